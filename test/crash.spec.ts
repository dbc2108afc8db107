import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SqliteDatabase, { type Database } from 'better-sqlite3';
import { Bot, field } from './support/bot';
import type { Json } from './support/client';
import { expectFailure } from './support/expected';
import { ChildService, useBuild } from './support/child-service';
import { Service } from './support/service';
import { subject, type SubjectIds } from './support/snowflakes';

const build = useBuild();
let directory: string;
let path: string;
const running: ChildService[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
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

/** The answer, or undefined when the process was killed before it came. */
async function unlessCut<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    // What fetch throws was made outside Jest's realm: instanceof does not know it.
    if ((error as Error).name === 'TypeError') return undefined;
    throw error;
  }
}

/** Lets `clients` act until so many acts were acknowledged, then kills the process in the midst of it. */
async function killAfter(
  service: ChildService,
  acknowledgements: number,
  clients: number,
  act: (client: number) => Promise<boolean>,
): Promise<void> {
  let count = 0;
  let killed: Promise<unknown> | undefined;
  const loop = async (client: number): Promise<void> => {
    while (killed === undefined) {
      if (!(await act(client))) return;
      if (++count >= acknowledgements) killed ??= service.end('SIGKILL');
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, client) => loop(client)));
  await killed;
}

const submitsOf = (database: Database, { user_id }: SubjectIds) =>
  database
    .prepare(`SELECT COUNT(*) FROM audit_events WHERE user_id = ? AND event_type = 'data_submitted'`)
    .pluck()
    .get(user_id);

const integrity = () => inDatabase((database) => database.pragma('integrity_check', { simple: true }));

describe('kill -9 under load', () => {
  it('loses no acknowledged write, keeps every act and its audit event together, and leaves the file whole', async () => {
    const service = await child().start();
    const bot = await Bot.register(service.url);
    await bot.hasCategory('profile', [field('turn', 'number')]);
    const clients = Array.from({ length: 8 }, () => ({
      who: subject(),
      stored: 0,
      sent: 0,
      acknowledged: 0,
    }));
    for (const { who } of clients) await bot.hasConsent(who);
    for (const acknowledgements of [37, 120, 251]) {
      await killAfter(service, acknowledgements, clients.length, async (index) => {
        const client = clients[index];
        if (client === undefined) return false;
        const turn = ++client.sent;
        const answer = await unlessCut(
          bot.post('/data/submit', { ...client.who, category: 'profile', data: { turn } }),
        );
        if (answer?.status === 200) {
          client.stored = turn;
          client.acknowledged += 1;
        }
        return answer !== undefined;
      });
      expect(integrity()).toBe('ok');
      await service.start();
      for (const client of clients) {
        const { data } = await bot.export<{ data: { profile: { turn: number } } }>(client.who);
        // The one act that was cut may have been committed or not; everything before it was.
        expect([client.stored, client.sent]).toContain(data.data.profile.turn);
        const counts = inDatabase((database) => submitsOf(database, client.who));
        expect(counts).toBeGreaterThanOrEqual(client.acknowledged);
        expect(counts).toBeLessThanOrEqual(client.sent);
      }
    }
  });

  it('leaves a consent, its history and its audit event together or not at all', async () => {
    const service = await child().start();
    const bot = await Bot.register(service.url);
    const acknowledged: SubjectIds[] = [];
    const asked: SubjectIds[] = [];
    await killAfter(service, 150, 8, async () => {
      const who = subject();
      asked.push(who);
      const answer = await unlessCut(bot.post('/consents/request', { ...who, consent_version: '1' }));
      if (answer?.status === 201) acknowledged.push(who);
      return answer !== undefined;
    });
    await service.start();
    const counts = inDatabase((database) =>
      asked.map(({ user_id }) =>
        ['consents', 'consent_history', 'audit_events'].map((table) =>
          database.prepare(`SELECT COUNT(*) FROM ${table} WHERE user_id = ?`).pluck().get(user_id),
        ),
      ),
    );
    for (const [index, row] of counts.entries()) {
      expect(new Set(row).size).toBe(1);
      if (acknowledged.includes(asked[index] as SubjectIds)) expect(row).toStrictEqual([1, 1, 1]);
    }
  });

  it('keeps a registration that was answered: its key works after the restart', async () => {
    const service = await child().start();
    const bots: Bot[] = [];
    await killAfter(service, 40, 4, async () => {
      const bot = await unlessCut(Bot.register(service.url));
      if (bot !== undefined) bots.push(bot);
      return bot !== undefined;
    });
    await service.start();
    for (const bot of bots) expect((await bot.get(`/bots/${bot.id}`)).status).toBe(200);
  });
});

describe('kill -9 during erasures', () => {
  it('leaves nobody half erased: the next start finishes what was begun, and what was answered stays erased', async () => {
    const service = await child().start();
    const bot = await Bot.register(service.url);
    await bot.hasCategory('profile');
    const subjects = Array.from({ length: 60 }, () => subject());
    for (const who of subjects) {
      await bot.hasConsent(who);
      await bot.hasData(who, 'profile', { value: 'x' });
    }
    const answered = new Set<SubjectIds>();
    const left = [...subjects];
    await killAfter(service, 25, 8, async () => {
      const who = left.pop();
      if (who === undefined) return false;
      const answer = await unlessCut(bot.post('/gdpr/forget-user', who));
      if (answer?.status === 200) answered.add(who);
      return answer !== undefined;
    });
    await service.start();
    const requests = inDatabase((database) =>
      database.prepare('SELECT status FROM deletion_requests').pluck().all(),
    );
    expect(new Set(requests)).toStrictEqual(new Set(['completed']));
    for (const who of subjects) {
      const erased = (await bot.eventTypes(who)).includes('deletion_completed');
      if (answered.has(who)) expect(erased).toBe(true);
      const answer = await bot.export(who);
      if (erased) expectFailure(answer, 404, 'not_found');
      else
        expect(answer.data).toMatchObject({
          consent: { status: 'accepted' },
          data: { profile: { value: 'x' } },
        });
    }
    expect(integrity()).toBe('ok');
  });

  it('finishes an erasure that was left processing, before the first request is taken', async () => {
    const service = await child().start();
    const bot = await Bot.register(service.url);
    const who = subject();
    const id = '018f2f00-0000-7000-8000-00000000beef';
    await bot.hasCategory('profile');
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'x' });
    await service.end('SIGKILL');
    inDatabase((database) =>
      database
        .prepare(
          `INSERT INTO deletion_requests (bot_id, id, guild_id, user_id, status, webhook_sent, created_at)
           VALUES (?, ?, ?, ?, 'processing', 0, ?)`,
        )
        .run(bot.id, id, who.guild_id, who.user_id, new Date().toISOString()),
    );
    await service.start();
    const { data } = await bot.get(`/gdpr/forget-status/${id}`);
    expect(data).toMatchObject({ status: 'completed', deleted_categories: ['profile'] } satisfies Json);
    expectFailure(await bot.export(who), 404, 'not_found');
    expect(await bot.eventTypes(who)).toContain('deletion_completed');
  });
});

describe('a second process on the same file', () => {
  it('is refused with a message that names the reason, and the first goes on', async () => {
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
