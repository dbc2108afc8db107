import { Lease, UnitOfWork } from '@app/database';
import { PlainSealing } from '@app/gdpr';
import type { Bot } from './support/bot';
import { engine } from './support/database';
import { Service } from './support/service';
import { subject, type SubjectIds } from './support/snowflakes';

// Thousands of rows are written and sealed, on a machine that may be busy.
jest.setTimeout(120_000);

const PLAIN = 'was-stored-in-plain';
const ROWS = 3_000;
const GUILD = '10000000000000000';
/** The user of the nth row. */
const user = (n: number): string => String(10_000_000_000_000_000n + BigInt(n));

let service: Service;
let bot: Bot;
let who: SubjectIds;

beforeEach(async () => {
  service = await new Service().start();
  bot = await service.registerBot();
  await bot.hasCategory('profile');
  who = subject();
  await bot.hasConsent(who);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await service.stop();
});

/** A number of rows, each of another user, as an older Lethe has left them. */
async function plainRows(count: number): Promise<void> {
  const values = `'{"value":"${PLAIN} ' || n || '"}'`;
  const numbers =
    engine === 'sqlite'
      ? `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})`
      : `WITH numbers AS (SELECT generate_series(1, ${count}) AS n)`;
  await service.database.run(
    `${numbers} INSERT INTO user_data (bot_id, guild_id, user_id, category_key, value, created_at, updated_at)
       SELECT '${bot.id}', '${GUILD}', CAST(${GUILD} + n AS text), 'profile', ${values}, '2025', '2025' FROM numbers`,
  );
  await service.database.run(
    `${numbers} INSERT INTO audit_events (bot_id, seq, id, guild_id, user_id, event_type, source, details, created_at)
       SELECT '${bot.id}', 1000000 + n, 'event-' || n, '${GUILD}', CAST(${GUILD} + n AS text), 'data_submitted', 'client', ${values}, '2025'
       FROM numbers`,
  );
}

/** What a subject has, as an older Lethe has left it. */
async function plainSubject(value = PLAIN): Promise<void> {
  await service.database.run(
    `INSERT INTO user_data (bot_id, guild_id, user_id, category_key, value, created_at, updated_at)
     VALUES (?, ?, ?, 'profile', ?, '2025', '2025')`,
    ...[bot.id, who.guild_id, who.user_id, JSON.stringify({ value })],
  );
}

/** As after an upgrade: the job has never been done. */
const forgetTheJob = () => service.database.run(`DELETE FROM job_leases WHERE name = 'plain-sealing'`);

async function plainLeft(): Promise<number> {
  const [row] = await service.database.rows<{ n: number }>(
    `SELECT (SELECT COUNT(*) FROM user_data WHERE value LIKE '%${PLAIN}%')
       + (SELECT COUNT(*) FROM audit_events WHERE details LIKE '%${PLAIN}%') AS n`,
  );
  return Number(row?.n);
}

/** Until the job has said that it is done. */
async function done(): Promise<void> {
  const isDone = async (): Promise<boolean> => {
    const [lease] = await service.database.rows<{ locked_until: string }>(
      `SELECT locked_until FROM job_leases WHERE name = 'plain-sealing' AND locked_by IS NULL`,
    );
    return lease !== undefined && lease.locked_until > '2100';
  };
  while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, 20));
}

async function upgraded(): Promise<void> {
  await forgetTheJob();
  await service.restart();
  await done();
}

/** Stands before every batch of the job. */
function onBatches(around: (run: () => Promise<never>) => Promise<never>): jest.SpyInstance {
  const original = Lease.prototype.batch;
  return jest.spyOn(Lease.prototype, 'batch').mockImplementation(function (this: Lease, work) {
    const run = () => original.call(this, work) as Promise<never>;
    return this.name === 'plain-sealing' ? around(run) : run();
  });
}

const events = async (userId: string) =>
  (await bot.get<{ events: { details: unknown }[] }>(`/audit/events?user_id=${userId}`)).data.events;

describe('what an older Lethe has stored in plain', () => {
  it('is sealed after an upgrade, all of it, though the process dies again and again, and reads as before', async () => {
    await plainRows(ROWS);
    await service.app.close();
    await forgetTheJob();
    for (const after of [3, 21]) await cutAfter(after);
    expect(await plainLeft()).toBeGreaterThan(0);
    expect(await plainLeft()).toBeLessThan(2 * ROWS);
    await service.start();
    await done();
    expect(await plainLeft()).toBe(0);
    for (const n of [1, 777, ROWS]) {
      const { text } = await bot.get(`/data/export/${user(n)}?guild_id=${GUILD}`);
      expect(text).toContain(`"value":"${PLAIN} ${n}"`);
      expect(JSON.stringify(await events(user(n)))).toContain(`${PLAIN} ${n}`);
    }
    expect(service.logLines.join()).toMatch(/\d+ rows that an older version had stored in plain text/);
  });

  /** Starts anew, and lets the job end after so many of its batches as if its process had. */
  async function cutAfter(batches: number): Promise<void> {
    let left = batches;
    let cut: () => void;
    const isCut = new Promise<void>((resolve) => (cut = resolve));
    const mock = onBatches((run) => {
      if (left-- > 0) return run();
      cut();
      return Promise.reject(new Error('cut'));
    });
    await service.start();
    await isCut;
    mock.mockRestore();
    await service.app.close();
    await forgetTheJob();
  }

  it('is not looked for again once it was done', async () => {
    await upgraded();
    await plainSubject();
    await service.restart();
    await service.app.get(PlainSealing, { strict: false }).tick();
    expect(await plainLeft()).toBe(1);
  });

  it('gives way to what is stored meanwhile', async () => {
    await plainSubject();
    await forgetTheJob();
    const unitOfWork = service.app.get(UnitOfWork);
    const job = service.app.get(PlainSealing, { strict: false });
    Reflect.set(job, 'isDone', false);
    const read = unitOfWork.read.bind(unitOfWork);
    // What the job has just read in plain is replaced before it is sealed.
    let submitted = false;
    jest.spyOn(unitOfWork, 'read').mockImplementation(async (work) => {
      const found = await read(work);
      if (!submitted && typeof (found as { seal?: unknown }).seal === 'function') {
        submitted = true;
        await bot.hasData(who, 'profile', { value: 'newer' });
      }
      return found;
    });
    await job.tick();
    expect(submitted).toBe(true);
    expect((await bot.export<{ data: object }>(who)).data.data).toStrictEqual({
      profile: { value: 'newer' },
    });
  });

  it.each([
    ['makes', 1],
    ['seals with', 2],
  ])('brings nobody back who is erased before it %s a key, nor a key of theirs', async (_, nth) => {
    await plainSubject();
    await forgetTheJob();
    const job = service.app.get(PlainSealing, { strict: false });
    Reflect.set(job, 'isDone', false);
    let batches = 0;
    onBatches(async (run) => {
      if (++batches === nth) await bot.hasForgotten(who);
      return run();
    });
    await job.tick();
    expect(batches).toBeGreaterThanOrEqual(nth);
    const keys = await service.database.rows('SELECT 1 FROM keys.subject_keys WHERE bot_id = ?', bot.id);
    expect(keys).toStrictEqual([]);
    expect((await bot.export(who)).status).toBe(404);
  });

  it('is sealed by keys that are committed before: of two files a crash can leave the newer state of one', async () => {
    await plainRows(3);
    await forgetTheJob();
    const job = service.app.get(PlainSealing, { strict: false });
    Reflect.set(job, 'isDone', false);
    const found: number[][] = [];
    const number = async (rows: string): Promise<number> =>
      (await service.database.rows(`SELECT 1 FROM ${rows} AND guild_id = '${GUILD}'`)).length;
    onBatches(async (run) => {
      const plain = `user_data WHERE value LIKE '%${PLAIN}%'`;
      found.push([await number('keys.subject_keys WHERE id IS NOT NULL'), await number(plain)]);
      return run();
    });
    await job.tick();
    // Of each moment how many keys there are, and how many values that are not sealed yet.
    expect(found.slice(0, 2)).toStrictEqual([
      [0, 3],
      [3, 3],
    ]);
    expect(await plainLeft()).toBe(0);
  });

  it('are the ids of erased users too: their requests are found and read as before', async () => {
    const id = '018f2f00-0000-7000-8000-000000000001';
    const failed = '018f2f00-0000-7000-8000-000000000000';
    for (const [one, status] of [
      [failed, 'failed'],
      [id, 'completed'],
    ] as const)
      await service.database.run(
        `INSERT INTO deletion_requests (bot_id, id, guild_id, user_id, status, deleted_categories, webhook_sent, created_at, completed_at)
         VALUES (?, ?, ?, ?, ?, '["profile"]', 1, '2025-01-01T00:00:00.000Z', '2025-01-01T00:00:01.000Z')`,
        ...[bot.id, one, who.guild_id, who.user_id, status],
      );
    const before = await bot.get(`/gdpr/forget-status/${id}`);
    await upgraded();
    expect(
      await service.database.rows('SELECT 1 FROM deletion_requests WHERE user_id = ?', who.user_id),
    ).toStrictEqual([]);
    expect((await bot.get(`/gdpr/forget-status/${id}`)).data).toStrictEqual(before.data);
    expect((await bot.get(`/gdpr/forget-status/${failed}`)).data).toMatchObject(who);
  });
});
