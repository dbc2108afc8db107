// npm run bench:paired -- CHECKOUT...: compares this Lethe with other built checkouts under the same load. With `--than` the
// others do another operation: `npm run bench:paired -- . --operation submit --than keyedSubmit`. The figures are per user, of
// whom the request of a batch has 100. An operation that takes effect once per user (`erase`, `revoke`) has rounds of 2,000 users, who
// are restored between them, in place of seconds.
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { machine, markdownTable } from './docs.mjs';
import { Load } from './load.mjs';
import { procStat } from './postgres.mjs';
import { median, quantile } from './statistics.mjs';

const USERS = 20_000;
/** The users of a round of an operation that takes effect once per user. */
const ONCE = 2_000;
const EVENTS = 20_000;
const CONNECTIONS = 64;
const MS_PER_TICK = 10;
/** Pause after a load for deferred work, so that the next load is not slowed by it. */
const REST_MS = 2_000;

const { values: options, positionals: others } = parseArgs({
  allowPositionals: true,
  options: {
    operation: { type: 'string', default: 'submit' },
    than: { type: 'string' },
    engine: { type: 'string', default: 'sqlite' },
    rounds: { type: 'string', default: '11' },
    seconds: { type: 'string', default: '3' },
  },
});
const load = new Load();
const pause = (ms) => new Promise((next) => setTimeout(next, ms));

const subjectOf = ({ guildId }, user) => ({ user_id: user, guild_id: guildId });
/** The users have accepted 1.0. */
const newer = (tenant, user) => ({ ...subjectOf(tenant, user), consent_version: '2.0' });
const requestConsent = (tenant, user) => ['POST', '/consents/request', newer(tenant, user)];

/** Operations that are compared between checkouts alone. `before` makes the request that each user needs before the measured one. */
const FURTHER = {
  request: { call: requestConsent, once: true },
  accept: {
    before: requestConsent,
    call: (tenant, user) => ['POST', '/consents/accept', newer(tenant, user)],
    once: true,
  },
  exportFull: {
    call: ({ guildId }, user) => ['GET', `/data/export/${user}?guild_id=${guildId}&format=full`],
  },
};

/** Lethe of a checkout on its own database, prepared by the programs of the checkout. */
async function contender(directory, name) {
  const own = (file) => import(pathToFileURL(join(resolve(directory), 'bench', file)));
  const [{ startContestant, startReceiver }, { ENGINES }, { OPERATIONS, requestsOf }] = await Promise.all([
    own('contestants.mjs'),
    own('engines.mjs'),
    own('operations.mjs'),
  ]);
  const operation = OPERATIONS[name] ?? FURTHER[name];
  if (operation === undefined)
    throw new Error(
      `--operation ${name} is none of ${[...Object.keys(OPERATIONS), ...Object.keys(FURTHER)]}`,
    );
  const engine = await ENGINES[options.engine]();
  const users = operation.once ? ONCE : USERS;
  const settings = { users, events: EVENTS, webhookUrl: await startReceiver() };
  const lethe = await startContestant('lethe', engine, settings);
  const requests = requestsOf(operation, lethe);
  await requireEachDone(operation, lethe);
  const { values = 1, once = false, before } = operation;
  const restore = async () => {
    await lethe.restore();
    if (before !== undefined) await eachDone(lethe, requestsOf({ call: before }, lethe));
  };
  if (before !== undefined) await restore();
  return { directory, engine, lethe, requests, values, once, restore, rounds: [] };
}

/** @throws Error when a batch is answered with a refused item */
async function requireEachDone({ call, values }, { tenant }) {
  if (values === undefined) return;
  const { results } = await tenant.call(...call(tenant, tenant.users[0], 0));
  const refused = results.find(({ ok }) => !ok);
  if (refused !== undefined) throw new Error(JSON.stringify(refused));
}

/** A round: `job`, or each user once, with whom the next one begins anew. */
async function measure({ lethe, requests, values, once, restore }, job) {
  const before = ticksOf(lethe.pid);
  const result = await eachDone(lethe, requests, once ? undefined : job);
  const unsealed = await unsealedIn(lethe.seeds.database);
  const [all, main] = ticksOf(lethe.pid).map(
    (ticks, n) => ((ticks - before[n]) * MS_PER_TICK * 1000) / (result.answers * values),
  );
  if (once) await restore();
  return { perSecond: result.perSecond * values, all, main, unsealed };
}

/** Sends each request once, or does `job`. @throws Error unless each is answered 200 or 201 */
async function eachDone({ url }, requests, job = { count: requests.length }) {
  const result = await load.run({ url, requests, connections: CONNECTIONS, ...job });
  const { 200: done = 0, 201: created = 0 } = result.statuses;
  if (done + created !== result.answers || result.broken > 0)
    throw new Error(JSON.stringify(result.statuses));
  return result;
}

/** Processor time of the process, and of its main thread. */
function ticksOf(pid) {
  return [procStat(pid), procStat(`${pid}/task/${pid}`)].map((stat) => stat[11] + stat[12]);
}

/** Unsealed events; undefined for a version without sealing. */
async function unsealedIn(database) {
  if (Object.keys(await database.columns('audit_heads')).length === 0) return undefined;
  const [{ waiting }] = await database.all(
    `SELECT SUM((SELECT MAX(seq) FROM audit_events event WHERE event.bot_id = head.bot_id) - last_seq) AS waiting
     FROM audit_heads head`,
  );
  return Number(waiting);
}

const contenders = [];
contenders.push(await contender(join(import.meta.dirname, '..'), options.operation));
for (const directory of others)
  contenders.push(await contender(directory, options.than ?? options.operation));
// Each user once, so that keys and caches exist before the measurement.
for (const each of contenders) await measure(each, { count: each.requests.length });
for (let round = 0; round < Number(options.rounds); round++) {
  for (const each of round % 2 === 0 ? contenders : contenders.toReversed()) {
    await pause(REST_MS);
    each.rounds.push(await measure(each, { durationMs: Number(options.seconds) * 1000 }));
  }
}
const [first] = contenders;
const rows = contenders.map(({ directory, rounds }, at) => {
  const ratios = rounds.map(({ perSecond }, round) => perSecond / first.rounds[round].perSecond);
  const of = (name) => median(rounds.map((round) => round[name] ?? NaN));
  const figures = [of('perSecond'), of('main'), of('all'), of('unsealed')].map((value) =>
    Number.isNaN(value) ? '' : Math.round(value).toLocaleString('en-US'),
  );
  const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => quantile(ratios, share).toFixed(2));
  const title = options.than === undefined ? directory : `${directory}, ${options.than}`;
  return [at === 0 ? 'this' : title, ...figures, middle, `${low} to ${high}`];
});
const names = [
  'checkout',
  'users/s',
  'CPU µs, event loop',
  'CPU µs',
  'unsealed after',
  'of this',
  'quartiles',
];
console.log(
  `${options.operation} on ${first.engine.title}, ${options.rounds} rounds of ${options.seconds} s, ${machine()}\n\n` +
    markdownTable(names, rows),
);
for (const { lethe, engine } of contenders) {
  await lethe.stop();
  await engine.stop();
}
load.stop();
process.exit(0);
