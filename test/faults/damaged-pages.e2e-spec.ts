import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import { ChildService } from '../support/child-service';
import { engine, newDatabase, type TestDatabase } from '../support/database';
import { ServiceHere } from '../support/here';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';

// Pages of the database are overwritten while no process has them in memory.

const build = useBuild();
let directory: string;
let database: TestDatabase;
let service: ChildService;
let log: number;
let settings: Record<string, string>;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
  database = await newDatabase(directory);
  log = openSync(join(directory, 'log'), 'w');
  settings = {
    DATABASE_URL: database.url,
    LETHE_MASTER_KEY: Buffer.alloc(32, 'test').toString('base64'),
  };
  service = new ChildService(build.directory, join(directory, 'lethe.db'), settings, 'api', log);
});
afterEach(async () => {
  await service.end('SIGKILL');
  closeSync(log);
  await database.drop();
  rmSync(directory, { recursive: true });
});

/** Overwrites the first page of a table on SQLite; appends a page to each part of the table on PostgreSQL. */
async function damage(table: string): Promise<void> {
  const one = async <Row>(sql: string): Promise<Row> => (await database.rows<Row>(sql))[0] as Row;
  if (engine === 'sqlite') {
    const { rootpage } = await one<{ rootpage: number }>(
      `SELECT rootpage FROM sqlite_master WHERE name = '${table}'`,
    );
    const { page_size: size } = await one<{ page_size: number }>('PRAGMA page_size');
    const file = openSync(join(directory, 'lethe.db'), 'r+');
    writeSync(file, Buffer.alloc(size, 0xff), 0, size, (rootpage - 1) * size);
    return closeSync(file);
  }
  await database.run('CHECKPOINT');
  const place = await one<{ setting: string }>(
    `SELECT setting FROM pg_settings WHERE name = 'data_directory'`,
  );
  const parts = await database.rows<{ path: string }>(
    `SELECT pg_relation_filepath(inhrelid) AS path FROM pg_inherits WHERE inhparent = '${table}'::regclass`,
  );
  for (const { path } of parts) {
    const file = join(place.setting, path);
    writeFileSync(file, Buffer.alloc(8_192, 0xff), { flag: 'a' });
    expect(statSync(file).size % 8_192).toBe(0);
  }
}

const status = async (): Promise<string> =>
  ((await (await fetch(`${service.url}/health/ready`)).json()) as { data: { status: string } }).data.status;

async function damaged(): Promise<string | undefined> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return /^lethe_degraded\{condition="database_damaged"\} (\d)$/m.exec(text)?.[1];
}

const words = (): number => readFileSync(join(directory, 'log'), 'utf8').split('a damaged page').length - 1;

describe('a statement that meets a damaged page', () => {
  it.each(['user_data', 'audit_events'])(
    'of %s degrades the process until it ends, with one line that says what to do',
    async (table) => {
      const here = await new ServiceHere(database, settings).start();
      const prepared = await Bot.register(here.url);
      await prepared.hasCategory('profile');
      const [first, second] = [subject(), subject()];
      for (const who of [first, second]) await prepared.hasConsent(who);
      await prepared.hasData(first, 'profile', { value: 'x' });
      await here.end();
      await damage(table);
      await service.start();
      const bot = prepared.at(service);
      for (let time = 0; time < 2; time++) {
        const answer = await bot.post('/data/submit', {
          ...second,
          category: 'profile',
          data: { value: 'y' },
        });
        expect(answer.status).toBeGreaterThanOrEqual(500);
      }
      expect([await status(), await damaged()]).toEqual(['degraded', '1']);
      await until(() => words() > 0);
      expect(words()).toBe(1);
      expect((await bot.get('/data/categories')).status).toBe(200);
      await service.end('SIGTERM');
      await service.start();
      expect([await status(), await damaged()]).toEqual(['ok', '0']);
    },
  );
});
