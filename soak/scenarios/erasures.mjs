import { quantile } from '../../bench/statistics.mjs';
import { forget, hasConsent, newBot, subject, timed } from '../bots.mjs';
import { atMost, shown } from '../table.mjs';

export const name = 'erasures';
export const shows =
  'p99 of erasures under a mixed load, and the longest wait of a submit while keys are rewritten';
export const engines = ['sqlite', 'postgres'];

const ERASED = 300;
const CALLERS = 4;
const CONNECTIONS = 16;
const P99_TIMES = 10;
/** Keys that the rewrite moves. */
const KEPT = 1_000;
/** Other units wait for one page of the rewrite at most. */
const PAUSE_TIMES = 15;
const USUAL_MS = 4_000;
const SHORT_MS = 10;

const consented = async (bot, count) => {
  const those = Array.from({ length: count }, subject);
  for (let at = 0; at < count; at += 50)
    await Promise.all(those.slice(at, at + 50).map((who) => hasConsent(bot, who)));
  return those;
};
const submit = (bot, who) => ['POST', '/data/submit', { ...bot.profile(who.user_id, 1), ...who }];

async function p99OfErasures(bot, those) {
  const left = [...those];
  const took = [];
  const caller = async () => {
    for (let who = left.pop(); who !== undefined; who = left.pop())
      took.push(await timed(() => forget(bot, who)));
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return quantile(took, 0.99);
}

/** The slowest of submits one after another, until `isOver`. */
async function slowestSubmit(bot, who, isOver) {
  let slowestMs = 0;
  while (!(await isOver()))
    for (let n = 0; n < 20; n++)
      slowestMs = Math.max(slowestMs, await timed(() => bot.call(...submit(bot, who))));
  return slowestMs;
}

/** The worker begins with a rewrite: the keys of all erasures until then are in the files. */
async function rowsOfRewrite(stage, bot, { database }, who) {
  const id = await forget(bot);
  const endMs = performance.now() + USUAL_MS;
  const usualMs = await slowestSubmit(bot, who, () => performance.now() > endMs);
  await stage.service({}, { database, worker: true });
  const isUnrecoverable = async () =>
    (await bot.call('GET', `/gdpr/forget-status/${id}`)).unrecoverable_at !== null;
  const waitMs = performance.now();
  const besideMs = await slowestSubmit(bot, who, isUnrecoverable);
  return [
    shown('from the start of a worker to unrecoverable', (performance.now() - waitMs) / 1000, 's'),
    shown('slowest submit beside the rewrite of the keys', besideMs, 'ms'),
    atMost(
      PAUSE_TIMES,
      'slowest submit beside the rewrite / before it',
      besideMs / Math.max(usualMs, SHORT_MS),
    ),
  ];
}

export async function run(stage) {
  const isRewriting = stage.engine.name === 'postgres';
  const service = await stage.service(isRewriting ? { JOBS: 'off' } : {});
  const load = stage.load();
  const bot = await newBot(service.url);
  const kept = await consented(bot, KEPT);
  const [first, second] = [await consented(bot, ERASED), await consented(bot, ERASED)];
  const aloneMs = await p99OfErasures(bot, first);
  const requests = kept.flatMap((who, n) => [
    bot.request(...submit(bot, who)),
    ...(n % 3 === 0 ? [bot.request('GET', `/data/export/${who.user_id}?guild_id=${who.guild_id}`)] : []),
    ...(n % 5 === 0 ? [bot.request('POST', '/consents/revoke', who)] : []),
    ...(n % 5 === 0 ? [bot.request('POST', '/consents/accept', { ...who, consent_version: '1.0' })] : []),
  ]);
  const job = { url: service.url, requests, connections: CONNECTIONS };
  let isOver = false;
  const loading = (async () => {
    let answers = 0;
    while (!isOver) ({ answers } = await load.run({ ...job, durationMs: 500 }));
    return answers * 2;
  })();
  const loadedMs = await p99OfErasures(bot, second);
  isOver = true;
  const rows = [
    shown('requests of the load, a second', await loading),
    shown('p99 of erasures alone', aloneMs, 'ms'),
    shown('p99 of erasures under the load', loadedMs, 'ms'),
    atMost(P99_TIMES, 'p99 of erasures under the load / alone', loadedMs / aloneMs),
  ];
  // On SQLite nothing is rewritten: keys are overwritten in place.
  return isRewriting ? [...rows, ...(await rowsOfRewrite(stage, bot, service, kept[1]))] : rows;
}
