import { markdownTable } from './docs.mjs';
import { median, spread } from './statistics.mjs';

/** Rounds whose middle half spans more than this part of the median come from a busy machine. */
const NOISY = 0.15;

const HEADS = [
  'route',
  'requests/s',
  'of usual',
  'of limit',
  'p50 ms',
  'p99 ms',
  'p99 of limit',
  'CPU µs',
  'CPU of usual',
  'CPU of limit',
];

const grouped = (value) => Math.round(value).toLocaleString('en-US');
const shown = (value, digits) => (Number.isFinite(value) ? value.toFixed(digits) : '');

/** `results[operation][contestant]` and `results.stock[floor]` are lists of rounds of one engine. */
export class Report {
  constructor(engine, operations, results) {
    Object.assign(this, { engine, operations, results });
  }

  /** A row for each route: what Lethe does, beside the two others. */
  table() {
    const measured = Object.entries(this.operations).filter(
      ([name]) => this.results[name].lethe !== undefined,
    );
    return markdownTable(
      HEADS,
      measured.map(([name, { title }]) => this.row(name, title)),
    );
  }

  row(name, title) {
    const middle = (contestant, field, digits) => {
      const rounds = this.results[name][contestant];
      return rounds === undefined ? '' : shown(median(rounds.map((round) => round[field])), digits);
    };
    const ratios = this.ratios(name, 'lethe');
    return [
      title,
      grouped(median(this.results[name].lethe.map(({ perSecond }) => perSecond))),
      ...['usual', 'limit'].map((other) => shown(ratios[other], 2)),
      ...['p50', 'p99'].map((field) => middle('lethe', field, 1)),
      middle('limit', 'p99', 1),
      ...['lethe', 'usual', 'limit'].map((contestant) => middle(contestant, 'cpuUs', 0)),
    ];
  }

  /** One sentence about the routes of the stock application. */
  floors() {
    const titles = { get: 'a constant GET', post: 'a POST with one validated DTO' };
    const parts = Object.entries(this.results.stock).map(
      ([floor, rounds]) => `${titles[floor]} ${grouped(median(rounds.map(({ perSecond }) => perSecond)))}`,
    );
    return parts.length === 0
      ? undefined
      : `The stock application answers ${parts.join(' and ')} times a second.`;
  }

  /** The ratios of the routes, for a plot. */
  ratiosTo(other) {
    return Object.entries(this.operations).flatMap(([name, { title }]) => {
      const value = this.results[name].lethe && this.ratios(name, 'lethe')[other];
      return value === undefined ? [] : [{ name: title, value }];
    });
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
