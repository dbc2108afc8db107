// npm run bench:size: the cost of an operation on growing tables, and of an insert on a long audit log.
import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { startLethe } from './contestants.mjs';
import { machine, markdownTable, writePlot, writeSection } from './docs.mjs';
import { ENGINES } from './engines.mjs';
import { Load } from './load.mjs';
import { plot } from './plot.mjs';
import { CATEGORIES, SIZE_OPERATIONS, submits } from './size.operations.mjs';
import { GrowingSeeds } from './size.seeds.mjs';
import { median } from './statistics.mjs';

const { values: options } = parseArgs({
  options: {
    engine: { type: 'string', default: Object.keys(ENGINES).join(',') },
    large: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const SIZES = [
  10_000,
  100_000,
  ...(options.quick ? [] : [1_000_000]),
  ...(options.large ? [10_000_000] : []),
];
const LONG_LOG = options.quick ? 200_000 : 5_000_000;
/** Most cost of an insert on the long log, relative to an empty one. */
const WANTED = 1.3;
/** Most time from the start of a process until it is ready. */
const RESTART_MS_MAX = 1_500;
const ROUNDS = 3;
/** Slow operations are measured fewer times. */
const ROUND_MS = 3_000;
/** Disk space for values, events, indices, the log of the database and both servers; a generous estimate. */
const BYTES_PER_ROW = 2_000;

const load = new Load();

function requireSpace() {
  const { bavail, bsize } = statfsSync(tmpdir());
  const needed = (SIZES.at(-1) + LONG_LOG) * BYTES_PER_ROW;
  if (bavail * bsize > needed * 1.2) return;
  console.error(
    `The temporary directory has ${Math.round((bavail * bsize) / 1e9)} GB; this needs ${Math.round(needed / 1e9)}.`,
  );
  process.exit(1);
}

async function run({ url, tenant }, { title, calls, connections = 1, status = '200' }) {
  const requests = calls().map((call) => tenant.request(...call));
  const job = { url, requests, connections, count: requests.length, durationMs: ROUND_MS };
  const result = await load.run(job);
  if (result.statuses[status] !== result.answers || result.broken > 0)
    throw new Error(`${title}: ${JSON.stringify(result.statuses)}`);
  return connections === 1 ? result.p50 : 1000 / result.perSecond;
}

/** The subjects whole again, whatever was erased of them. Lethe reads only values that it has encrypted itself. */
async function putBack({ url, tenant, seeds }) {
  await seeds.putBack();
  const requests = submits().map((call) => tenant.request(...call));
  const { statuses } = await load.run({ url, requests, connections: 64, count: requests.length });
  if (statuses['200'] !== requests.length) throw new Error(`Values: ${JSON.stringify(statuses)}`);
}

/** Milliseconds: the median of single requests, or the mean share of each of many parallel ones. */
async function measure(lethe, operation) {
  const rounds = [];
  for (let round = 0; round <= ROUNDS; round++) {
    if (operation.putsBack) await putBack(lethe);
    rounds.push(await run(lethe, operation));
  }
  if (operation.putsBack) await putBack(lethe);
  return median(rounds.slice(1));
}

async function whileGrowing(engine) {
  const lethe = await startLethe('growing', engine, GrowingSeeds);
  await lethe.tenant.call('POST', '/data/register', { bot_id: lethe.tenant.id, categories: CATEGORIES });
  const points = SIZE_OPERATIONS.map(() => []);
  for (const rows of SIZES) {
    progress(`${engine.title}: ${rows} rows`);
    await lethe.seeds.grow(rows);
    await putBack(lethe);
    for (const [n, operation] of SIZE_OPERATIONS.entries())
      if (rows >= (operation.from ?? 0)) points[n].push([rows, await measure(lethe, operation)]);
  }
  const restarts = [];
  for (let round = 0; round < ROUNDS; round++) restarts.push(await lethe.restart());
  await lethe.stop();
  return { points, restartMs: median(restarts) };
}

/** The empty log and the long one take turns, so that changes of the machine affect both. */
async function onALongLog(engine) {
  const insert = SIZE_OPERATIONS.at(-1);
  const [empty, long] = [
    await startLethe('empty', engine, GrowingSeeds),
    await startLethe('long', engine, GrowingSeeds),
  ];
  progress(`${engine.title}: ${LONG_LOG} events of one bot`);
  await long.seeds.grow(LONG_LOG, { values: false });
  const ratios = [];
  const times = { empty: [], long: [] };
  for (let round = 0; round <= 2 * ROUNDS; round++) {
    times.empty.push(await run(empty, insert));
    times.long.push(await run(long, insert));
    if (round > 0) ratios.push(times.long.at(-1) / times.empty.at(-1));
  }
  await empty.stop();
  await long.stop();
  return { empty: median(times.empty), long: median(times.long), ratio: median(ratios) };
}

function progress(text) {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
}

const milliseconds = (ms) => (ms === undefined ? '' : ms.toPrecision(3));

function sizeTable(results) {
  const heads = ['operation', 'engine', ...SIZES.map((rows) => `${rows.toLocaleString('en-US')} rows, ms`)];
  const rows = SIZE_OPERATIONS.flatMap(({ title }, n) =>
    results.map(({ engine, points }) => {
      const byRows = new Map(points[n]);
      return [title, engine.title, ...SIZES.map((size) => milliseconds(byRows.get(size)))];
    }),
  );
  return markdownTable(heads, rows, 2);
}

function insertLine({ engine, insert: { empty, long, ratio } }) {
  const verdict = ratio <= WANTED ? 'met' : 'MISSED';
  const events = LONG_LOG.toLocaleString('en-US');
  return `- ${engine.title}: an event appended to ${events} events of one bot takes ${milliseconds(long)} ms, to an empty log ${milliseconds(empty)} ms (64 at once): ratio ${ratio.toFixed(2)}, wanted at most ${WANTED}: ${verdict}`;
}

function restartLine({ engine, restartMs }) {
  const rows = SIZES.at(-1).toLocaleString('en-US');
  const verdict = restartMs <= RESTART_MS_MAX ? 'met' : 'MISSED';
  return `- ${engine.title}: with ${rows} values and as many events a process is ready ${Math.round(restartMs)} ms after its start, wanted at most ${RESTART_MS_MAX}: ${verdict}`;
}

function writePlots(results) {
  for (const [n, { title, file }] of SIZE_OPERATIONS.entries()) {
    const series = results.map(({ engine, points }) => ({ name: engine.title, points: points[n] }));
    const shown = series.filter(({ points }) => points.length > 0);
    if (shown.length > 0) writePlot(file, plot(title, shown));
  }
}

requireSpace();
const results = [];
for (const name of options.engine.split(',')) {
  const engine = await ENGINES[name]();
  try {
    results.push({ engine, ...(await whileGrowing(engine)), insert: await onALongLog(engine) });
  } finally {
    await engine.stop();
  }
}
const circumstances = `Medians of ${ROUNDS} measurements of one request after the other on ${machine()}; values and audit events of others grow together.`;
const text = [
  circumstances,
  sizeTable(results),
  results.flatMap((each) => [insertLine(each), restartLine(each)]).join('\n'),
].join('\n\n');
console.log(text);
if (options.write) {
  writePlots(results);
  const images = SIZE_OPERATIONS.map(({ title, file }) => `![${title}](plots/${file}.svg)`);
  writeSection('size', `${text}\n\n${images.join('\n')}`);
}
load.stop();
process.exit(0);
