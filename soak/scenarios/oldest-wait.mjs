import { newBot, subject, until } from '../bots.mjs';
import { atMost, shown } from '../table.mjs';

export const name = 'oldest-wait';
export const shows =
  'the oldest waiting webhook, and the oldest log that waits to be sealed, under and after a load';
export const engines = ['sqlite', 'postgres'];

const LOAD_MS = 10_000;
const CONNECTIONS = 32;
/** Work that is done all the time never waits for as long as the load lasts. */
const SHARE_OF_LOAD = 0.8;
const WEBHOOK = 'lethe_webhook_outbox_oldest_due_age_seconds{receiver="healthy"}';
const SEALING = 'lethe_audit_sealing_oldest_wait_seconds';

export async function run(stage) {
  const service = await stage.service();
  const receiver = await stage.receiver();
  const load = stage.load();
  const quiet = await newBot(service.url);
  const bots = [];
  for (let n = 0; n < 8; n++) bots.push(await newBot(service.url, { webhook_url: receiver.url }));
  const writes = (n) => {
    const event = { ...subject(), event_type: 'data_exported' };
    return quiet.request('POST', '/audit/event', event, n);
  };
  const erases = (n) => bots[n % bots.length].request('POST', '/gdpr/forget-user', subject());
  // Two calls of a host at once are what webhooks take: erasures are a twentieth, so that they can keep up.
  const requests = Array.from({ length: 20_000 }, (_, n) => (n % 20 === 0 ? erases(n) : writes(n)));
  const most = { [WEBHOOK]: 0, [SEALING]: 0 };
  const look = async () => {
    for (const each of [WEBHOOK, SEALING]) most[each] = Math.max(most[each], await service.metric(each));
  };
  const job = { url: service.url, requests, connections: CONNECTIONS, durationMs: LOAD_MS };
  let isOver = false;
  const loaded = load.run(job).finally(() => (isOver = true));
  await until(async () => {
    await look();
    return isOver;
  }, 100);
  const { perSecond } = await loaded;
  const endMs = performance.now();
  await until(async () => (await service.metric(WEBHOOK)) === 0 && (await service.metric(SEALING)) === 0);
  const seconds = LOAD_MS / 1000;
  return [
    shown('requests a second', perSecond),
    shown('oldest webhook under the load', most[WEBHOOK], 's'),
    shown('oldest log to be sealed under the load', most[SEALING], 's'),
    atMost(SHARE_OF_LOAD, 'oldest webhook / duration of the load', most[WEBHOOK] / seconds),
    atMost(SHARE_OF_LOAD, 'oldest log to be sealed / duration of the load', most[SEALING] / seconds),
    atMost(1, 'until nothing waits / duration of the load', (performance.now() - endMs) / LOAD_MS),
  ];
}
