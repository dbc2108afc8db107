// npm run bench: compares Lethe with a stock Nest application on Express, with the same service in a usual style, and with
// a bare server that runs the same statements; on both engines, in one run on one machine.
import { startContestant, startReceiver, startStock } from './contestants.mjs';
import { machine, writePlot, writeSection } from './docs.mjs';
import { ENGINES } from './engines.mjs';
import { Load } from './load.mjs';
import { OPERATIONS, requestsOf, requireSameAnswers, stockRequests } from './operations.mjs';
import { readOptions } from './options.mjs';
import { bars } from './plot.mjs';
import { procStat } from './postgres.mjs';
import { Report } from './report.mjs';

const CONNECTIONS = 64;
const WARM_UP_MS = 1000;
const USERS = 20_000;
const CONTESTANTS = ['lethe', 'usual', 'limit'];
const MS_PER_TICK = 10;

const options = readOptions();
const operations = Object.fromEntries(options.only.map((name) => [name, OPERATIONS[name]]));
const load = new Load();
const webhookUrl = await startReceiver();

/** One contestant under one kind of load. */
class Case {
  rounds = [];

  /** `name`: the operation, or `stock`; `column`: whose figures these are. */
  constructor(name, column, contestant, requests, { once = false, engine = {} }) {
    Object.assign(this, { name, column, contestant, requests, once, engine });
  }

  get title() {
    return `${this.name} ${this.column}`;
  }

  async measure(durationMs) {
    const { url, pid, restore } = this.contestant;
    if (this.once) await restore();
    const cpu = this.ticks(pid);
    const count = this.once ? this.requests.length : undefined;
    const job = { url, requests: this.requests, connections: CONNECTIONS, durationMs, count };
    const result = await load.run(job);
    const [server, database] = this.ticks(pid).map((ticks, n) => ticks - cpu[n]);
    if (this.once) await restore();
    const refused = Object.keys(result.statuses).filter((status) => status !== '200');
    if (refused.length > 0 || result.broken > 0)
      throw new Error(`${this.title}: ${JSON.stringify(result.statuses)}, broken ${result.broken}`);
    const us = (ticks) => (ticks * MS_PER_TICK * 1000) / result.answers;
    return { ...result, cpuUs: us(server), databaseCpuUs: us(database) };
  }

  /** Processor time of the server and of the database, where the system tells (Linux). */
  ticks(pid) {
    const stat = procStat(pid);
    return [stat === undefined ? NaN : stat[11] + stat[12], this.engine.cpuTicks?.() ?? NaN];
  }
}

function casesOf(engine, contestants, stock) {
  const floors = [...new Set(Object.values(operations).flatMap(({ floor }) => floor ?? []))];
  const floorCases = floors.map(
    (floor) => new Case('stock', floor, stock, stockRequests(floor, contestants[0]), {}),
  );
  const cases = Object.entries(operations).flatMap(([name, operation]) =>
    contestantsOf(operation, contestants).map((each) => {
      const { once } = operation;
      return new Case(name, each.name, each, requestsOf(operation, each), { once, engine });
    }),
  );
  return [...floorCases, ...cases];
}

function contestantsOf({ isOwn = false }, [lethe, ...others]) {
  return isOwn ? [lethe] : [lethe, ...others];
}

async function prepare(engine) {
  const settings = { users: USERS, events: options.events, webhookUrl };
  const contestants = [];
  for (const name of CONTESTANTS) {
    progress(`${engine.title}: preparing ${name}`);
    contestants.push(await startContestant(name, engine, settings));
  }
  for (const operation of Object.values(operations))
    await requireSameAnswers(operation, contestantsOf(operation, contestants));
  return contestants;
}

async function measureEngine(engine) {
  const contestants = await prepare(engine);
  const stock = await startStock();
  const cases = casesOf(engine, contestants, stock);
  for (const each of cases) {
    progress(`${engine.title}: warming up ${each.title}`);
    await each.measure(WARM_UP_MS);
  }
  for (let round = 1; round <= options.rounds; round++) {
    progress(`${engine.title}: round ${round} of ${options.rounds}`);
    for (const each of cases) each.rounds.push(await each.measure(options.seconds * 1000));
  }
  for (const each of [...contestants, stock]) await each.stop();
  const results = { stock: {} };
  for (const { name, column, rounds } of cases) (results[name] ??= {})[column] = rounds;
  return new Report(engine, operations, results);
}

function progress(text) {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
}

function circumstances() {
  return `Medians of ${options.rounds} interleaved rounds of ${options.seconds} s on ${machine()}, ${CONNECTIONS} keep-alive connections, ${USERS.toLocaleString('en-US')} users, ${options.events.toLocaleString('en-US')} audit events and more.`;
}

for (const name of options.engines) {
  const engine = await ENGINES[name]();
  try {
    const report = await measureEngine(engine);
    const parts = [circumstances(), report.table(), report.floors(), report.targets(), report.warning()];
    const text = parts.filter(Boolean);
    console.log(`\n## ${engine.title}\n\n${text.join('\n\n')}`);
    if (options.write) {
      writeSection(`bench:${name}`, text.join('\n\n'));
      const title = `Requests per second on ${engine.title}, compared to the usual service`;
      writePlot(`throughput-${name}`, bars(title, 'Times the usual service.', report.ratiosTo('usual')));
    }
  } finally {
    await engine.stop();
  }
}
load.stop();
process.exit(0);
