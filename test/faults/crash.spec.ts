import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { SqliteDatabase } from '@app/database';
import { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import { ChildService } from '../support/child-service';
import { Service } from '../support/service';
import { directoryOnDisk } from '../support/disk';

const build = useBuild();
let directory: string;
let path: string;
const running: ChildService[] = [];

beforeEach(() => {
  directory = directoryOnDisk();
  path = join(directory, 'lethe.db');
});
afterEach(async () => {
  for (const child of running.splice(0)) await child.end('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

function child(environment: Record<string, string> = {}): ChildService {
  const made = new ChildService(build.directory, path, environment);
  running.push(made);
  return made;
}

/** A refused start is over when it is answered, and needs no ending. */
function refusedStart(environment: Record<string, string> = {}) {
  return new ChildService(build.directory, path, environment).refused();
}

function inDatabase<T>(look: (database: Database) => T): T {
  const database = new SqliteDatabase(path);
  try {
    return look(database);
  } finally {
    database.close();
  }
}

const integrity = () => inDatabase((database) => database.pragma('integrity_check', { simple: true }));

describe('a second process on the same file', () => {
  it('is refused with a message that names the reason, and the first continues', async () => {
    const first = await new Service().start();
    path = first.databasePath;
    const bot = await first.registerBot();
    const { code, stderr } = await refusedStart();
    expect(code).toBe(1);
    expect(stderr).toContain('Another process is using');
    expect(stderr).not.toMatch(/\n\s+at /);
    expect((await bot.get(`/bots/${bot.id}`)).status).toBe(200);
    await first.stop();
  });

  it('can start as soon as the first was killed', async () => {
    const first = await child().start();
    await first.end('SIGKILL');
    await expect(child().start()).resolves.toBeDefined();
  });
});

describe('a file that is no database of Lethe', () => {
  it.each([
    ['garbage', Buffer.from('this is no database, but somebody may want it back'.repeat(100))],
    ['a header and garbage', Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(8192, 'x')])],
  ])('is left untouched, with a message that says what to do (%s)', async (_, bytes) => {
    writeFileSync(path, bytes);
    const { code, stderr } = await refusedStart();
    expect(code).toBe(1);
    expect(stderr).toMatch(/damaged or no SQLite database/);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  it('is left untouched when a newer Lethe has written it', async () => {
    const service = await child().start();
    await service.end('SIGTERM');
    inDatabase((database) =>
      database
        .prepare(`INSERT INTO migrations (timestamp, name) VALUES (4000000000000, 'Later4000000000000')`)
        .run(),
    );
    const before = readFileSync(path);
    const { code, stderr } = await refusedStart();
    expect(code).toBe(1);
    expect(stderr).toContain('Later4000000000000');
    expect(readFileSync(path).equals(before)).toBe(true);
  });
});

describe('a start that cannot succeed', () => {
  it('is refused with one readable line for each wrong setting', async () => {
    const { code, stderr } = await refusedStart({
      RATE_LIMIT_TIERS: 'free',
      WEBHOOK_TYPO: '1',
      LOG_LEVEL: 'loud',
    });
    expect(code).toBe(1);
    for (const name of ['RATE_LIMIT_TIERS', 'WEBHOOK_TYPO', 'LOG_LEVEL'])
      expect(stderr.split('\n').filter((line) => line.includes(`- ${name}`))).toHaveLength(1);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});

describe('SIGTERM', () => {
  it('ends the process in order with code 0, and the file is whole without its log', async () => {
    const service = await child().start();
    const bot = await Bot.register(service.url);
    expect(await service.end('SIGTERM')).toMatchObject({ code: 0, signal: null });
    expect(integrity()).toBe('ok');
    await service.start();
    expect((await bot.get(`/bots/${bot.id}`)).status).toBe(200);
  });
});
