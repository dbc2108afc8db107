import { get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { durations, hasConsent, newBot, statusOf, subject, timed, until } from '../bots.mjs';
import { atMost, shown } from '../table.mjs';

export const name = 'exports';
export const shows = 'memory for an export of very many records, and the slowest small request beside it';
export const engines = ['sqlite', 'postgres'];

const EVENTS = 12_000;
/** The reader stops there for a while: what is sent on without it, or was made before, is held. */
const STOP_BYTES = 2 ** 23;
const STOP_MS = 1_500;
const HELD_SHARE = 0.15;
/** Another request waits for one piece of the export at most. */
const SLOWEST_TIMES = 25;
const SHORT_MS = 10;
const PAUSE_BYTES = 2 ** 21;
const SEALING = 'lethe_audit_sealing_oldest_wait_seconds';

/** Reads an export with pauses, and calls the service from outside meanwhile; `look` is called while the reader stops. */
async function readSlowly(bot, who, look = async () => undefined) {
  const address = `${bot.url}/api/v1/data/export/${who.user_id}?guild_id=${who.guild_id}&format=full`;
  const answer = await new Promise((resolve, reject) =>
    get(address, { headers: { authorization: `Bearer ${bot.key}` } }, resolve).on('error', reject),
  );
  let [bytes, slowestMs] = [0, 0];
  for await (const chunk of answer) {
    const before = bytes;
    bytes += chunk.length;
    if (before < STOP_BYTES && bytes >= STOP_BYTES) await pause(STOP_MS).then(look);
    // The rest is read at full speed, so that no pause of the reader hides one of the service.
    if (Math.floor(bytes / PAUSE_BYTES) === Math.floor(before / PAUSE_BYTES)) continue;
    slowestMs = Math.max(slowestMs, await timed(() => statusOf(bot)));
    await pause(20);
  }
  return { bytes, slowestMs };
}

export async function run(stage) {
  // A small heap is cleared of garbage soon.
  const service = await stage.service({}, { watched: true, flags: ['--max-old-space-size=128'] });
  const load = stage.load();
  const bot = await newBot(service.url);
  const [who, warmUp] = [subject(), subject()];
  for (const one of [who, warmUp]) await hasConsent(bot, one);
  const details = { text: 'x'.repeat(4_000) };
  const event = (one) =>
    bot.request('POST', '/audit/event', { ...one, event_type: 'data_exported', details });
  const job = { url: service.url, connections: 64 };
  await load.run({ ...job, requests: [event(warmUp)], count: EVENTS / 10 });
  await load.run({ ...job, requests: [event(who)], count: EVENTS });
  // The sealing of very many events needs memory too.
  await until(async () => (await service.metric(SEALING)) === 0, 100);
  await readSlowly(bot, warmUp);
  const usualMs = Math.max(...(await durations(100, () => statusOf(bot))), SHORT_MS);
  // Garbage is collected before each reading.
  const before = await service.ask('begin');
  let stopped;
  const { bytes, slowestMs } = await readSlowly(bot, who, async () => (stopped = await service.ask('begin')));
  const { stopMs } = await service.ask('end');
  const held = stopped.peakBytes - before.peakBytes;
  return [
    shown('the export', bytes / 2 ** 20, 'MiB'),
    shown('held while the reader stops', held / 2 ** 20, 'MiB'),
    atMost(HELD_SHARE, 'held while the reader stops / length of the export', held / bytes),
    shown('longest stop of the loop', stopMs, 'ms'),
    shown('slowest small request beside it', slowestMs, 'ms'),
    atMost(SLOWEST_TIMES, 'slowest small request beside it / before it', slowestMs / usualMs),
  ];
}
