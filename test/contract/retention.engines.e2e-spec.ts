import { Logger } from '@nestjs/common';
import { AuditService } from '@app/audit';
import { UnitOfWork } from '@app/database';
import { Clock, daysAfter } from '@app/kernel';
import { CategoryRetention, DueData } from '@app/user-data';
import { type Bot, field } from '../support/bot';
import { engine } from '../support/database';
import { itOfSize } from '../support/depth';
import type { StoredIds } from '../support/digests';
import { leased, runNow, sweepOnce } from '../support/jobs';
import { type Service, useServiceInProcess } from '../support/service';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';

const service = useServiceInProcess();
const DAY_MS = 86_400_000;
let bot: Bot;

beforeEach(async () => {
  bot = await service.registerBot();
});
afterEach(() => jest.restoreAllMocks());

/** Advances the played time by days and milliseconds. */
function later(days: number, ms = 0, of: Service = service): void {
  const now = Date.now() + days * DAY_MS + ms;
  jest.spyOn(of.app.get(Clock), 'nowMs').mockReturnValue(now);
}

/** Sets the played time relative to an answered time. */
function after(iso: string, days: number, ms = 0): void {
  jest.spyOn(service.app.get(Clock), 'nowMs').mockReturnValue(Date.parse(daysAfter(iso, days)) + ms);
}

const sweep = (of: Service = service) => runNow(of, CategoryRetention);

async function stored(who: SubjectIds, category = 'notes', value = 'x'): Promise<string> {
  await bot.hasConsent(who);
  const answer = await bot.post<{ updated_at: string }>('/data/submit', {
    ...who,
    category,
    data: { value },
  });
  return answer.data.updated_at;
}

async function dataOf(who: SubjectIds): Promise<unknown> {
  return (await bot.export<{ data: unknown }>(who)).data?.data;
}

async function deletions(who: SubjectIds): Promise<unknown[]> {
  const query = `user_id=${who.user_id}&guild_id=${who.guild_id}&event_type=data_deleted`;
  const { events } = (await bot.get<{ events: { details: unknown }[] }>(`/audit/events?${query}`)).data;
  return events.map(({ details }) => details);
}

describe('retention_days of a category', () => {
  it('keeps a value for exactly so many days since its last update, and erases it then with its audit event', async () => {
    await bot.hasCategory('notes', [field('value')], { retention_days: 30 });
    const who = subject();
    const updatedAt = await stored(who);
    after(updatedAt, 30, -1);
    await sweep();
    expect(await dataOf(who)).toEqual({ notes: { value: 'x' } });
    expect(await deletions(who)).toEqual([]);
    after(updatedAt, 30);
    await sweep();
    expect(await dataOf(who)).toEqual({});
    expect(await deletions(who)).toEqual([{ category: 'notes', reason: 'retention', actor: 'job' }]);
    expect((await bot.status(who)).data).toMatchObject({ status: 'accepted' });
  });

  it('counts from the last update, however often the job has looked at the value before', async () => {
    await bot.hasCategory('notes', [field('value')], { retention_days: 10 });
    const who = subject();
    await stored(who);
    for (let days = 8; days <= 40; days += 8) {
      later(days);
      await sweep();
      await bot.hasData(who, 'notes', { value: `${days}` });
    }
    later(49);
    await sweep();
    expect(await dataOf(who)).toEqual({ notes: { value: '40' } });
    later(50, 60_000);
    await sweep();
    expect(await dataOf(who)).toEqual({});
  });

  it('leaves categories without it, and those of other bots, as they are', async () => {
    const other = await service.registerBot();
    await bot.hasCategory('notes', [field('value')], { retention_days: 1 });
    await bot.hasCategory('forever');
    await other.hasCategory('notes');
    const who = subject();
    await stored(who);
    await bot.hasData(who, 'forever', { value: 'x' });
    await other.hasConsent(who);
    await other.hasData(who, 'notes', { value: 'theirs' });
    later(3650);
    await sweep();
    expect(await dataOf(who)).toEqual({ forever: { value: 'x' } });
    expect((await other.export(who)).data).toMatchObject({ data: { notes: { value: 'theirs' } } });
  });

  it('takes effect at the next run when it is changed, shortened, lengthened or taken away', async () => {
    await bot.hasCategory('notes');
    const who = subject();
    await stored(who);
    later(100);
    const change = async (days: number | null): Promise<unknown> => {
      await bot.put('/data/categories/notes', { retention_days: days });
      await sweep();
      return dataOf(who);
    };
    const kept = { notes: { value: 'x' } };
    expect(await change(101)).toEqual(kept);
    expect(await change(null)).toEqual(kept);
    expect(await change(100)).toEqual({});
  });

  it('does not wait for a consent, but for a running erasure', async () => {
    await bot.hasCategory('notes', [field('value')], { retention_days: 1, legal_basis: 'contract' });
    const [revoked, erasing] = [subject(), subject()];
    await stored(revoked);
    await bot.hasRevoked(revoked);
    await stored(erasing);
    const { user_id: kept } = service.stored(bot, erasing);
    await service.database.run('UPDATE consents SET erasing = 1 WHERE user_id = ?', kept);
    later(1, 1_000);
    await sweep();
    const left = await service.database.rows<{ user_id: string }>(
      'SELECT user_id FROM user_data WHERE bot_id = ?',
      bot.id,
    );
    expect(left).toEqual([{ user_id: kept }]);
  });

  it('erases a value that an older version has stored without its age', async () => {
    await bot.hasCategory('notes', [field('value')], { retention_days: 5 });
    const [old, fresh] = [subject(), subject()];
    await stored(old);
    await service.database.run('UPDATE user_data SET retention_from = ? WHERE bot_id = ?', '', bot.id);
    later(5, 1_000);
    await stored(fresh);
    await service.database.run(
      'UPDATE user_data SET retention_from = ? WHERE user_id = ?',
      ...['', service.stored(bot, fresh).user_id],
    );
    expect(
      await service.database.rows(`SELECT 1 FROM user_data WHERE bot_id = ? AND retention_from = ''`, bot.id),
    ).toHaveLength(2);
    await sweep();
    expect([await dataOf(old), await dataOf(fresh)]).toEqual([{}, { notes: { value: 'x' } }]);
  });

  itOfSize('erases a backlog in bounded batches, each a unit with its events, and all of it', async () => {
    await bot.hasCategory('notes', [field('value')], { retention_days: 1 });
    const guildId = snowflake();
    const users = await planted(guildId, 10_000);
    later(2);
    const unitOfWork = service.app.get(UnitOfWork);
    const audit = service.app.get(AuditService, { strict: false });
    const recorded = jest.spyOn(audit, 'recordAll');
    await sweep();
    const batches = recorded.mock.calls.map(([, acts]) => acts.length);
    expect(Math.max(...batches)).toBeLessThanOrEqual(200);
    expect(batches.reduce((sum, erased) => sum + erased, 0)).toBe(10_000);
    expect(await unitOfWork.get('SELECT 1 FROM user_data WHERE bot_id = ? LIMIT 1', bot.id)).toBeUndefined();
    const { pagination } = (
      await bot.get<{ pagination: { total_count: number } }>(
        `/audit/events?guild_id=${guildId}&event_type=data_deleted`,
      )
    ).data;
    expect(pagination.total_count).toBe(users.length);
  });

  it('continues where it was stopped in the middle', async () => {
    await bot.hasCategory('notes', [field('value')], { retention_days: 1 });
    await planted(snowflake(), 1_000);
    later(2);
    const stopping = new AbortController();
    const data = service.app.get(DueData, { strict: false });
    const erase = data.erase.bind(data);
    let batches = 0;
    jest.spyOn(data, 'erase').mockImplementation(async (...given) => {
      if (given[1].botId === bot.id && ++batches === 2) stopping.abort();
      return erase(...given);
    });
    const lease = await leased(service, 'category-retention');
    await sweepOnce(service, CategoryRetention, lease, stopping.signal);
    await service.app.get(UnitOfWork).write((tx) => lease.end(tx));
    expect(batches).toBe(2);
    expect(await rowsLeft()).toBe(600);
    await sweep();
    expect(await rowsLeft()).toBe(0);
  });

  it('is undone with its audit events when a batch fails, and continues with the next bot', async () => {
    await bot.hasCategory('notes', [field('value')], { retention_days: 1 });
    const who = subject();
    await stored(who);
    const second = await service.registerBot();
    await second.hasCategory('notes', [field('value')], { retention_days: 1 });
    await second.hasConsent(who);
    await second.hasData(who, 'notes', { value: 'y' });
    expect(bot.id < second.id).toBe(true);
    later(1, 1_000);
    const audit = service.app.get(AuditService, { strict: false });
    const record = audit.recordAll.bind(audit);
    const failing = jest
      .spyOn(audit, 'recordAll')
      .mockImplementation((tx, acts) =>
        acts.some(({ subject: { botId } }) => botId === bot.id)
          ? Promise.reject(new Error('injected'))
          : record(tx, acts),
      );
    await sweep();
    failing.mockRestore();
    expect(await dataOf(who)).toEqual({ notes: { value: 'x' } });
    expect((await second.export(who)).data).toMatchObject({ data: {} });
    await sweep();
    expect(await dataOf(who)).toEqual({});
  });

  it('continues with the next category after a fault of one, which is logged', async () => {
    const who = subject();
    await bot.hasConsent(who);
    for (const key of ['broken', 'notes']) {
      await bot.hasCategory(key, [field('value')], { retention_days: 1 });
      await bot.hasData(who, key, { value: 'x' });
    }
    later(1, 1_000);
    const data = service.app.get(DueData, { strict: false });
    const erase = data.erase.bind(data);
    jest
      .spyOn(data, 'erase')
      .mockImplementation((tx, due) =>
        due.category === 'broken' ? Promise.reject(new Error('injected')) : erase(tx, due),
      );
    const logged = jest.spyOn(Logger.prototype, 'error');
    await sweep();
    expect(await dataOf(who)).toEqual({ broken: { value: 'x' } });
    expect(
      logged.mock.calls.filter(([, about]) => (about as { botId?: string }).botId === bot.id),
    ).toHaveLength(1);
  });
});

describe('an update in the same moment', () => {
  it('stays, whichever of the two is first', async () => {
    await bot.hasCategory('notes', [field('value')], { retention_days: 1 });
    const guildId = snowflake();
    const people = Array.from({ length: 60 }, () => ({ user_id: snowflake(), guild_id: guildId }));
    await Promise.all(people.map((who) => stored(who)));
    later(1, 1_000);
    const submits = people.map((who) => bot.hasData(who, 'notes', { value: 'new' }));
    await Promise.all([...submits, sweep(), sweep()]);
    await sweep();
    for (const who of people) expect(await dataOf(who)).toEqual({ notes: { value: 'new' } });
  });
});

/** Inserts users with a consent and a value each, without the interface. */
async function planted(guildId: string, count: number): Promise<StoredIds[]> {
  const users = Array.from({ length: count }, (_, index) =>
    service.stored(bot, { guild_id: guildId, user_id: String(10n ** 17n + BigInt(index)) }),
  );
  const now = new Date().toISOString();
  for (let at = 0; at < count; at += 500) {
    const some = users.slice(at, at + 500);
    const rows = (values: string): string => some.map(() => values).join(', ');
    await service.database.run(
      `INSERT INTO consents (bot_id, guild_id, user_id, id, status, version, requested_at, erasing)
       VALUES ${rows(`(?, ?, ?, ?, 'accepted', '1', '2020', 0)`)}`,
      ...some.flatMap((user) => [bot.id, user.guild_id, user.user_id, user.user_id]),
    );
    await service.database.run(
      `INSERT INTO user_data (bot_id, guild_id, user_id, category_key, value, created_at, updated_at, retention_from)
       VALUES ${rows(`(?, ?, ?, 'notes', '{}', ?, ?, ?)`)}`,
      ...some.flatMap((user) => [bot.id, user.guild_id, user.user_id, now, now, now]),
    );
  }
  // As after a minute in operation: the server has statistics.
  if (engine === 'postgres') await service.database.run('ANALYZE');
  return users;
}

async function rowsLeft(): Promise<number> {
  const [row] = await service.database.rows<{ left: number | string }>(
    'SELECT COUNT(*) AS "left" FROM user_data WHERE bot_id = ?',
    bot.id,
  );
  return Number(row?.left);
}

describe('retention_days of a category that needs no consent', () => {
  it('erases the values of users with a consent and of users who were never asked', async () => {
    const reasons = { reason_de: 'Nötig.', reason_en: 'Needed.' };
    const without = { legal_basis: 'contract', requires_consent: false, ...reasons };
    await bot.hasCategory('notes', [field('value')], { retention_days: 30, ...without });
    const users = [subject(), subject()] as const;
    await bot.hasConsent(users[0]);
    for (const who of users) await bot.hasData(who, 'notes', { value: 'x' });
    await sweep();
    for (const who of users) expect(await dataOf(who)).toEqual({ notes: { value: 'x' } });
    later(31);
    await sweep();
    for (const who of users)
      expect(await deletions(who)).toEqual([{ category: 'notes', reason: 'retention', actor: 'job' }]);
    expect(await service.database.rows(`SELECT 1 FROM user_data WHERE bot_id = '${bot.id}'`)).toEqual([]);
  });
});
