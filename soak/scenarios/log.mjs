import { newBot } from '../bots.mjs';
import { atMost, shown } from '../table.mjs';

export const name = 'log';
export const shows = 'memory of a process whose log no one reads, against one whose log is written';
export const engines = ['sqlite'];

/** The lines that wait for a reader. */
const WAITING_BYTES = 8 * 2 ** 20;
const TIMES_WAITING = 6;
const STEP = 5_000;
const STEPS_MAX = 30;
const WARM_UP = 10_000;
const DROPPED = 'lethe_log_lines_dropped_total';

/** The growth of the anonymous memory from the warm-up to the end of `count` requests, or until lines are dropped. */
async function growthOf(stage, stdout, count = Infinity) {
  const service = await stage.service({ LOG_LEVEL: 'info' }, { stdout, watched: true });
  const bot = await newBot(service.url);
  const load = stage.load();
  const job = { url: service.url, connections: 32, requests: [bot.request('GET', '/servers')] };
  await load.run({ ...job, count: WARM_UP });
  let sent = 0;
  let dropped = 0;
  // The garbage is collected before each reading.
  await service.ask('begin');
  const before = service.anonymous;
  while (sent < count && dropped === 0 && sent < STEP * STEPS_MAX) {
    await load.run({ ...job, count: STEP });
    sent += STEP;
    dropped = await service.metric(DROPPED);
  }
  // As many lines again are dropped, all of them.
  if (dropped > 0) await load.run({ ...job, count: sent });
  await service.ask('begin');
  return { growth: service.anonymous - before, sent: dropped > 0 ? 2 * sent : sent, dropped };
}

export async function run(stage) {
  const unread = await growthOf(stage, 'pipe');
  const written = await growthOf(stage, 'ignore', unread.sent);
  const mib = (bytes) => bytes / 2 ** 20;
  return [
    shown('requests', unread.sent),
    atMost(
      STEP * STEPS_MAX,
      'requests until lines are dropped',
      unread.dropped > 0 ? unread.sent / 2 : Infinity,
    ),
    shown('growth with a log that is written', mib(written.growth), 'MiB'),
    shown('growth with a log that no one reads', mib(unread.growth), 'MiB'),
    atMost(
      TIMES_WAITING,
      'what it needs more / the lines that wait',
      (unread.growth - written.growth) / WAITING_BYTES,
    ),
  ];
}
