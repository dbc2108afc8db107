import { quantile } from '../../bench/statistics.mjs';
import { at, forget, newBot, timed, until } from '../bots.mjs';
import { atMost, shown } from '../table.mjs';

export const name = 'first-attempt';
export const shows =
  'time from the answer of an erasure to its webhook: in one process, and from an api to a worker';
export const engines = ['sqlite', 'postgres'];

const TIMES = 200;
/** The attempt follows the commit without a poll, so that it takes no longer than the erasure itself takes. */
const TIMES_OF_ERASURE = 2;

/** The processes: on PostgreSQL two apis, which leave webhooks to two workers. */
async function started(stage) {
  if (stage.engine.name === 'sqlite') return [await stage.service()];
  const database = await stage.database();
  const apis = [];
  for (let n = 0; n < 2; n++) apis.push(await stage.service({ JOBS: 'off' }, { database }));
  for (let n = 0; n < 2; n++) await stage.service({}, { database, worker: true });
  return apis;
}

export async function run(stage) {
  const apis = await started(stage);
  const receiver = await stage.receiver();
  const bot = await newBot(apis[0].url, { webhook_url: receiver.url });
  const [erasures, waits] = [[], []];
  for (let n = -20; n < TIMES; n++) {
    let id;
    const tookMs = await timed(async () => (id = await forget(at(bot, apis[Math.abs(n) % apis.length]))));
    const answeredMs = performance.now();
    await until(() => receiver.begunMs.has(id), 1);
    if (n < 0) continue;
    erasures.push(tookMs);
    waits.push(Math.max(0, receiver.begunMs.get(id) - answeredMs));
  }
  return [
    shown('an erasure, median', quantile(erasures, 0.5), 'ms'),
    shown('its first attempt after its answer, p99', quantile(waits, 0.99), 'ms'),
    shown('its first attempt after its answer, median', quantile(waits, 0.5), 'ms'),
    atMost(
      TIMES_OF_ERASURE,
      'median of the first attempt / of the erasure',
      quantile(waits, 0.5) / quantile(erasures, 0.5),
    ),
  ];
}
