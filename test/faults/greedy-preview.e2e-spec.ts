import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import { ChildService } from '../support/child-service';
import { newDatabase, type TestDatabase } from '../support/database';
import { leastCost, watchedEnvironment } from '../support/loop-watch';
import { fillRecords } from '../support/previewed-records';
import { LETHE_MASTER_KEY } from '../support/service';

/** In one statement each, the counts of so many records stop the event loop for a second on SQLite. */
const RECORDS = 60_000;
/** A part takes up to 10 ms; the rest is for a busy machine. */
const MOST = { stopMs: 100, growthMb: 160 };

const BRIEF = { EVIDENCE_RETENTION_DAYS: '30', BACKUP_RETENTION_DAYS: '0' };

const build = useBuild();
const directory = mkdtempSync(join(tmpdir(), 'lethe-greedy-'));
let database: TestDatabase;
let service: ChildService;

beforeAll(async () => {
  database = await newDatabase(directory);
  const environment = {
    ...watchedEnvironment(directory),
    DATABASE_URL: database.url,
    LETHE_MASTER_KEY,
    ...BRIEF,
  };
  service = await new ChildService(build.directory, join(directory, 'lethe.db'), environment).start();
});
afterAll(async () => {
  await service.end('SIGKILL');
  await database.drop();
  rmSync(directory, { recursive: true });
});

describe('a bot with many records', () => {
  it('stops no other bot by a preview of their retention, which counts each of them', async () => {
    const bot = await Bot.register(service.url);
    await bot.hasCategory('aging', undefined, { retention_days: 5 });
    const expected = await fillRecords(database, bot.id, 'aging', RECORDS);
    // As after `db:move`.
    await database.run('ANALYZE');
    const preview = async (): Promise<void> => {
      const answer = await bot.get(`/bots/${bot.id}/retention-preview?in_days=366`);
      expect(answer.data).toMatchObject(expected);
    };
    const { stopMs, growthMb } = await leastCost(service, preview, MOST);
    expect(stopMs).toBeLessThan(MOST.stopMs);
    expect(growthMb).toBeLessThan(MOST.growthMb);
  });
});
