import { statSync } from 'node:fs';
import { newBot, subject } from '../bots.mjs';
import { atMost, shown } from '../table.mjs';

export const name = 'checkpoints';
export const shows = 'size of the write-ahead log of SQLite while events are written without a pause';
export const engines = ['sqlite'];

const LOAD_MS = 20_000;
const LOOK_MS = 20;
/** So much in the log holds up the writer. */
const HELD_UP_MIB = 32;
const TIMES_HELD_UP = 4;

export async function run(stage) {
  const service = await stage.service();
  const path = service.database.replace('sqlite:', '');
  const load = stage.load();
  const bot = await newBot(service.url);
  const details = { text: 'x'.repeat(8_000) };
  const requests = Array.from({ length: 500 }, () =>
    bot.request('POST', '/audit/event', { ...subject(), event_type: 'data_exported', details }),
  );
  const mib = (file) => statSync(file).size / 2 ** 20;
  let mostMib = 0;
  const looking = setInterval(() => (mostMib = Math.max(mostMib, mib(`${path}-wal`))), LOOK_MS);
  const before = mib(path);
  const job = { url: service.url, requests, connections: 64, durationMs: LOAD_MS };
  const { perSecond, p99 } = await load.run(job);
  clearInterval(looking);
  await service.stop();
  const writtenMib = mib(path) - before;
  return [
    shown('events a second', perSecond),
    shown('p99 of an event', p99, 'ms'),
    shown('growth of the file', writtenMib, 'MiB'),
    shown('the log at its largest', mostMib, 'MiB'),
    atMost(TIMES_HELD_UP, `the log at its largest / ${HELD_UP_MIB} MiB`, mostMib / HELD_UP_MIB),
    shown('the log at its largest / growth of the file', mostMib / writtenMib),
  ];
}
