import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type KeySet, verifyAuditExport } from '@lethe/sdk/evidence';
import { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import { ChildService } from '../support/child-service';
import { newDatabase, type TestDatabase } from '../support/database';
import { exported } from '../support/sealing';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';
import { directoryOnDisk } from '../support/disk';
import { atDepth } from '../support/depth';

const build = useBuild();
const directory = directoryOnDisk();
const LETHE_MASTER_KEY = Buffer.alloc(32, 'kill').toString('base64');
let database: TestDatabase;
let child: ChildService;

beforeAll(async () => {
  database = await newDatabase(directory);
  child = new ChildService(build.directory, join(directory, 'lethe.db'), {
    LETHE_MASTER_KEY,
    DATABASE_URL: database.url,
  });
});
afterAll(async () => {
  await child.end('SIGKILL');
  await database.drop();
  rmSync(directory, { recursive: true, force: true });
});

describe('a service that is killed again and again while it writes and seals', () => {
  it('seals everything that was answered, once and in order, without being asked', async () => {
    await child.start();
    const bot = await Bot.register(child.url);
    let answered = 0;
    const batches = async () => (await database.rows('SELECT 1 FROM audit_batches')).length;
    for (let round = 0; round < atDepth(1, 4); round++) {
      let isUp = true;
      const write = async (): Promise<void> => {
        while (isUp) {
          const body = { ...subject(), event_type: 'data_deleted', details: { round } };
          const ok = await bot.post('/audit/event', body).then(
            ({ status }) => status === 201,
            () => false,
          );
          if (!ok) return;
          answered += 1;
        }
      };
      const writers = [write(), write(), write()];
      // During the writing of events and seals, in the first or second round.
      const before = await batches();
      await until(async () => (await batches()) > before + (round % 2));
      await child.end('SIGKILL');
      isUp = false;
      await Promise.all(writers);
      await child.start();
    }
    const behind = async (): Promise<number> => {
      const [row] = await database.rows<{ behind: number }>(
        `SELECT COUNT(*) AS behind FROM audit_events
         WHERE seq > COALESCE((SELECT last_seq FROM audit_heads WHERE bot_id = audit_events.bot_id), 0)`,
      );
      return row?.behind ?? 0;
    };
    await until(async () => (await behind()) === 0, 100);
    const keySet = (await (await fetch(`${child.url}/.well-known/lethe-keys.json`)).json()) as KeySet;
    const log = await verifyAuditExport(await exported(bot), keySet);
    expect(answered).toBeGreaterThan(0);
    expect(log.events).toBeGreaterThanOrEqual(answered);
    expect(log.batches).toBeGreaterThan(0);
  }, 90_000);
});
