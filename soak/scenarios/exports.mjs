import { get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { durations, hasConsent, newBot, statusOf, subject, timed, until } from '../bots.mjs';
import { atMost, shown } from '../table.mjs';

export const name = 'exports';
export const shows = 'memory for an export of very many records, and the slowest small request beside it';
export const engines = ['sqlite', 'postgres'];

const EVENTS = 50_000;
/** An export that is held in memory once has a growth of its own length at least. */
const GROWTH_SHARE = 0.7;
/** Another request waits for one piece of the export at most. */
const SLOWEST_TIMES = 25;
const SHORT_MS = 10;
const PAUSE_BYTES = 2 ** 18;
const SEALING = 'lethe_audit_sealing_oldest_wait_seconds';

/** Reads an export with pauses, and calls the service from outside meanwhile. */
async function readSlowly(bot, who) {
  const address = `${bot.url}/api/v1/data/export/${who.user_id}?guild_id=${who.guild_id}&format=full`;
  const answer = await new Promise((resolve, reject) =>
    get(address, { headers: { authorization: `Bearer ${bot.key}` } }, resolve).on('error', reject),
  );
  let [bytes, slowestMs] = [0, 0];
  for await (const chunk of answer) {
    const before = bytes;
    bytes += chunk.length;
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
  const details = { text: 'x'.repeat(420) };
  const event = (one) =>
    bot.request('POST', '/audit/event', { ...one, event_type: 'data_exported', details });
  const job = { url: service.url, connections: 64 };
  await load.run({ ...job, requests: [event(warmUp)], count: EVENTS / 10 });
  await load.run({ ...job, requests: [event(who)], count: EVENTS });
  // The sealing of very many events needs memory too.
  await until(async () => (await service.metric(SEALING)) === 0, 100);
  await readSlowly(bot, warmUp);
  const usualMs = Math.max(...(await durations(100, () => statusOf(bot))), SHORT_MS);
  let read;
  const { growth, stopMs } = await service.costOf(async () => (read = await readSlowly(bot, who)));
  return [
    shown('the export', read.bytes / 2 ** 20, 'MiB'),
    shown('growth of the memory', growth / 2 ** 20, 'MiB'),
    atMost(GROWTH_SHARE, 'growth / length of the export', growth / read.bytes),
    shown('longest stop of the loop', stopMs, 'ms'),
    shown('slowest small request beside it', read.slowestMs, 'ms'),
    atMost(SLOWEST_TIMES, 'slowest small request beside it / before it', read.slowestMs / usualMs),
  ];
}
