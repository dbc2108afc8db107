import { createRequire } from 'node:module';
import pg from 'pg';
import { quantile } from '../../bench/statistics.mjs';
import { until } from '../bots.mjs';
import { atMost, shown } from '../table.mjs';

export const name = 'signals';
export const shows = 'median time from a commit to the worker that waits for it in another process';
export const engines = ['postgres'];

const TIMES = 300;
/** A signal is a notification, and a turn of the event loop before it; a worker that polls would need hundreds of times. */
const TIMES_OF_BARE = 8;

const { PostgresSignals } = createRequire(import.meta.url)('../../dist/libs/database/src/signals.js');

export async function run(stage) {
  const config = { connectionString: await stage.database() };
  const [commits, listens] = [new pg.Client(config), new pg.Client(config)];
  const fault = (error) => console.error(error);
  const [tells, hears] = [new PostgresSignals(config, fault), new PostgresSignals(config, fault)];
  for (const client of [commits, listens]) {
    await client.connect();
    stage.defer(() => client.end());
  }
  for (const signals of [tells, hears]) {
    await signals.onModuleInit();
    stage.defer(() => signals.onApplicationShutdown());
  }
  await commits.query('CREATE TABLE notes (id integer)');
  await listens.query('LISTEN bare');

  let heard;
  hears.on('soak', () => heard());
  listens.on('notification', () => heard());
  /** Milliseconds from a commit to what `tell` causes in another session. */
  const waits = async (tell) => {
    const all = [];
    for (let n = 0; n < TIMES; n++) {
      await commits.query('INSERT INTO notes VALUES (1)');
      const committedMs = performance.now();
      const arrived = new Promise((resolve) => (heard = () => resolve(performance.now())));
      await tell(n);
      all.push((await arrived) - committedMs);
    }
    return all;
  };
  const bare = await waits(() => commits.query('NOTIFY bare'));
  const signals = await waits((n) => tells.tell('soak', `${n}`));
  let many = 0;
  hears.on('many', () => many++);
  for (let n = 0; n < 5_000; n++) tells.tell('many', `${n} ${'x'.repeat(40)}`);
  const begunMs = performance.now();
  await until(() => many === 5_000, 1);
  const ratio = quantile(signals, 0.5) / quantile(bare, 0.5);
  return [
    shown('a bare notification, median', quantile(bare, 0.5), 'ms'),
    shown('a signal, median', quantile(signals, 0.5), 'ms'),
    shown('a signal, p99', quantile(signals, 0.99), 'ms'),
    shown('5,000 signals at once', performance.now() - begunMs, 'ms'),
    atMost(TIMES_OF_BARE, 'median of a signal / of a bare notification', ratio),
  ];
}
