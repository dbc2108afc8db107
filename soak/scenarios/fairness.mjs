import { quantile } from '../../bench/statistics.mjs';
import { forget, newBot, until } from '../bots.mjs';
import { atLeast, atMost, shown } from '../table.mjs';

export const name = 'fairness';
export const shows = 'webhooks of an innocent bot beside silent, slow and loud ones, against without them';
export const engines = ['sqlite', 'postgres'];

const WINDOW_MS = 6_000;
const SILENT_BOTS = 50;
const SLOW_MS = 2_000;
const LOUD_MS = 50;
const LOUD_EVENTS = 500;
/** Attempts of others need the same loop and disk; one that waited for them would take seconds. */
const P99_TIMES = 20;
const CONFIRMED_SHARE = 0.25;

export async function run(stage) {
  const service = await stage.service({ WEBHOOK_TIMEOUT_MS: '3000' });
  const receiver = await stage.receiver();
  const innocent = await newBot(service.url, { webhook_url: receiver.url });

  /** Erases one after another for some seconds, each when the one before has arrived. */
  const watched = async () => {
    const waits = [];
    for (const endMs = performance.now() + WINDOW_MS; performance.now() < endMs;) {
      const id = await forget(innocent);
      const answeredMs = performance.now();
      await until(() => receiver.begunMs.has(id), 1);
      waits.push(Math.max(1, receiver.begunMs.get(id) - answeredMs));
    }
    return { p99: quantile(waits, 0.99), confirmed: waits.length };
  };

  await watched();
  const usual = await watched();
  const rows = [shown('alone: p99', usual.p99, 'ms'), shown('alone: confirmed', usual.confirmed)];
  const compared = async (beside) => {
    const { p99, confirmed } = await watched();
    rows.push(shown(`beside ${beside}: p99`, p99, 'ms'));
    rows.push(atMost(P99_TIMES, `beside ${beside}: p99 / alone`, p99 / usual.p99));
    rows.push(atLeast(CONFIRMED_SHARE, `beside ${beside}: confirmed / alone`, confirmed / usual.confirmed));
  };

  const slow = [];
  for (let n = 0; n < SILENT_BOTS; n++) {
    const takes = n % 2 === 0 ? () => undefined : (response) => setTimeout(() => response.end(), SLOW_MS);
    const { url } = await stage.receiver(takes);
    slow.push(await newBot(service.url, { webhook_url: url }));
  }
  for (const bot of slow) for (let n = 0; n < 4; n++) await forget(bot);
  await compared(`${SILENT_BOTS} receivers that are silent or slow`);

  // Calls to one host are few at a time: the backlog outlasts the window.
  const loudReceiver = await stage.receiver((response) => setTimeout(() => response.end(), LOUD_MS));
  const loud = await newBot(service.url, { webhook_url: loudReceiver.url });
  for (let n = 0; n < LOUD_EVENTS; n += 20) await Promise.all(Array.from({ length: 20 }, () => forget(loud)));
  await compared(`a loud bot with ${LOUD_EVENTS} events`);
  rows.push(shown('calls to the loud bot meanwhile', loudReceiver.calls));
  return rows;
}
