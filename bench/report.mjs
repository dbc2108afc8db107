import { markdownTable } from './docs.mjs';
import { median, quantile, spread } from './statistics.mjs';

/** Rounds whose middle half spans more than this part of the median come from a busy machine. */
const NOISY = 0.15;

const HEADS = [
  'route',
  'service',
  'requests/s',
  'quartiles',
  'of usual',
  'of limit',
  'of stock',
  'p50 ms',
  'p95 ms',
  'p99 ms',
  'CPU µs',
  'database CPU µs',
];

const grouped = (value) => Math.round(value).toLocaleString('en-US');
const shown = (value, digits) => (Number.isFinite(value) ? value.toFixed(digits) : '');

/** `results[operation][contestant]` and `results.stock[floor]` are lists of rounds of one engine. */
export class Report {
  constructor(engine, operations, results) {
    Object.assign(this, { engine, operations, results });
  }

  table() {
    const stock = ['get', 'post'].filter((floor) => this.results.stock[floor] !== undefined);
    const titles = { get: 'stock: constant GET', post: 'stock: POST with one validated DTO' };
    const rows = stock.map((floor) => this.row(titles[floor], 'stock', this.results.stock[floor], {}));
    for (const [name, operation] of Object.entries(this.operations)) {
      for (const [contestant, rounds] of Object.entries(this.results[name]))
        rows.push(this.row(operation.title, contestant, rounds, this.ratios(name, contestant)));
    }
    return markdownTable(HEADS, rows);
  }

  row(title, contestant, rounds, ratios) {
    const middle = (field) => median(rounds.map((round) => round[field]));
    const rates = rounds.map(({ perSecond }) => perSecond);
    return [
      title,
      contestant === 'lethe' ? '**Lethe**' : contestant,
      grouped(middle('perSecond')),
      `${grouped(quantile(rates, 0.25))} to ${grouped(quantile(rates, 0.75))}`,
      ...['usual', 'limit', 'stock'].map((other) => shown(ratios[other], 2)),
      ...['p50', 'p95', 'p99'].map((field) => shown(middle(field), 1)),
      shown(middle('cpuUs'), 0),
      shown(middle('databaseCpuUs'), 0),
    ];
  }

  /** The medians of the ratios of each round, since changes of the machine affect both contestants. */
  ratios(name, contestant) {
    const own = this.results[name][contestant];
    const to = (others) => others && median(own.map((round, n) => round.perSecond / others[n].perSecond));
    const { usual, limit } = this.results[name];
    const stock = this.results.stock[this.operations[name].floor];
    return {
      usual: contestant === 'usual' ? undefined : to(usual),
      limit: contestant === 'limit' ? undefined : to(limit),
      stock: to(stock),
    };
  }

  targets() {
    const lines = [];
    for (const [name, operation] of Object.entries(this.operations)) {
      const ratios = this.results[name].lethe && this.ratios(name, 'lethe');
      for (const [other, wanted] of Object.entries(operation.targets?.[this.engine.name] ?? {})) {
        if (ratios?.[other] === undefined) continue;
        const verdict = ratios[other] >= wanted ? 'met' : 'MISSED';
        lines.push(
          `- ${operation.title}: ${shown(ratios[other], 2)} of ${other}, wanted ${wanted}: ${verdict}`,
        );
      }
    }
    return lines.join('\n');
  }

  /** Undefined where the rounds agree. */
  warning() {
    const noisy = [];
    for (const [name, contestants] of Object.entries(this.results)) {
      for (const [contestant, rounds] of Object.entries(contestants)) {
        const reach = spread(rounds.map(({ perSecond }) => perSecond));
        if (reach > NOISY) noisy.push(`${name} ${contestant} ${Math.round(reach * 100)} %`);
      }
    }
    if (noisy.length === 0) return undefined;
    return `The machine was noisy: the middle half of the rounds spreads over more than ${NOISY * 100} % of the median (${noisy.join(', ')}). Repeat the run before reading small differences.`;
  }
}
