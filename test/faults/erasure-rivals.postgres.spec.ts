import { JOB } from '@app/http';
import { ConsentedDataHolders, SubjectDigests } from '@app/crypto';
import { UnitOfWork } from '@app/database';
import { SystemClock } from '@app/kernel';
import { DeliveryTexts } from '@app/webhooks';
import { randomUUID } from 'node:crypto';
import type { Bot } from '../support/bot';
import { Client, type Json } from '../support/client';
import { Service, useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';
import { until } from '../support/until';
import { ago } from '../support/time';
import { keptOpen } from '../support/units';

const service = useServiceInProcess();
let bot: Bot;
let who: SubjectIds;

beforeEach(async () => {
  bot = await service.registerBot();
  who = subject();
  await bot.hasCategory('profile');
  await bot.hasConsent(who);
  await bot.hasData(who, 'profile', { value: 'x' });
});

const forget = () => bot.post<{ request_id: string; deleted_categories: string[] }>('/gdpr/forget-user', who);

describe('an erasure beside the deletion of a category', () => {
  it('leaves no event that can be read, also of those that the deletion writes, and names only what it erased', async () => {
    let forgetting: ReturnType<typeof forget> | undefined;
    await service.app.get(UnitOfWork).write(async (tx) => {
      await keptOpen(tx);
      await tx.get('SELECT 1 FROM user_data WHERE bot_id = ? FOR UPDATE', bot.id);
      forgetting = forget();
      const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      await until(async () => (await service.database.rows(waiting)).length > 0);
      const holders = service.app.get(ConsentedDataHolders, { strict: false });
      await holders.eraseCategory(tx, bot.id, 'profile', 500, JOB);
    });
    const answer = await forgetting;
    const { events } = (await bot.get<{ events: Json[] }>(`/audit/events?user_id=${who.user_id}`)).data;
    const past = events.filter(({ event_type: type }) => type !== 'deletion_completed');
    expect(past.map(({ event_type: type }) => type)).toContain('data_deleted');
    for (const event of past) expect(event).toMatchObject({ details: null, erased: true });
    expect(await service.database.rows('SELECT 1 FROM subjects WHERE bot_id = ?', bot.id)).toEqual([]);
    expect(answer?.data).toMatchObject({ status: 'completed', deleted_categories: [] });
  });

  it('is not undone by it: a subject that is erased meanwhile has no event of the deletion, and no key', async () => {
    await service.app.get(UnitOfWork).write(async (tx) => {
      await keptOpen(tx);
      const all = tx.all.bind(tx);
      let isErased = false;
      jest.spyOn(tx, 'all').mockImplementation(async (...asked) => {
        const found = await all(...asked);
        if (!isErased && /^SELECT [^]* FROM user_data/.test(asked[0])) {
          expect(found).toHaveLength(1);
          await bot.hasForgotten(who);
          isErased = true;
        }
        return found;
      });
      const holders = service.app.get(ConsentedDataHolders, { strict: false });
      await holders.eraseCategory(tx, bot.id, 'profile', 500, JOB);
      expect(isErased).toBe(true);
    });
    const { events } = (await bot.get<{ events: Json[] }>(`/audit/events?user_id=${who.user_id}`)).data;
    expect(events.map(({ event_type: type }) => type)).not.toContain('data_deleted');
    expect(await service.database.rows('SELECT 1 FROM subjects WHERE bot_id = ?', bot.id)).toEqual([]);
  });
});

describe('an erasure beside the confirmation of a call about its subject', () => {
  it('is not undone by it: no key is made for an erased subject', async () => {
    const { app } = service;
    const subject = app.get(SubjectDigests, { strict: false }).named(bot.id, who);
    const given = { botId: bot.id, event: 'consent_revoked', subject } as const;
    const text = await app.get(UnitOfWork).write(async (tx) => {
      await keptOpen(tx);
      const get = tx.get.bind(tx);
      jest.spyOn(tx, 'get').mockImplementationOnce(async (...asked) => {
        const found = await get(...asked);
        await bot.hasForgotten(who);
        return found;
      });
      return app.get(DeliveryTexts, { strict: false }).reencrypt(tx, given, randomUUID(), '{}');
    });
    expect(text).toBeNull();
    expect(await service.database.rows('SELECT 1 FROM subjects WHERE bot_id = ?', bot.id)).toEqual([]);
  });
});

describe('a process that starts', () => {
  async function begunAt(createdAt: string): Promise<() => Promise<string | undefined>> {
    const id = randomUUID();
    const { user_id, guild_id } = service.stored(bot, subject());
    await service.database.run(
      `INSERT INTO deletion_requests (bot_id, id, guild_id, user_id, status, webhook_sent, created_at)
       VALUES (?, ?, ?, ?, 'processing', 0, ?)`,
      ...[bot.id, id, guild_id, user_id, createdAt],
    );
    const sql = 'SELECT status FROM deletion_requests WHERE id = ?';
    return async () => (await service.database.rows<{ status: string }>(sql, id))[0]?.status;
  }

  async function ended(status: () => Promise<string | undefined>): Promise<void> {
    await until(async () => (await status()) !== 'processing');
  }

  it('finishes what was left, and leaves to the others what they have just begun', async () => {
    const left = await begunAt(ago(60_000));
    const createdAt = ago(0);
    const young = await begunAt(createdAt);
    // However long the start takes, it is young.
    const clock = jest.spyOn(SystemClock.prototype, 'nowMs').mockReturnValue(Date.parse(createdAt));
    const other = await new Service({}, service.database).start();
    await ended(left);
    clock.mockRestore();
    await other.app.close();
    expect([await left(), await young()]).toEqual(['completed', 'processing']);
  });

  it('listens while an erasure that was left has to wait', async () => {
    const left = await begunAt(ago(60_000));
    let other: Service | undefined;
    await service.app.get(UnitOfWork).write(async (tx) => {
      await keptOpen(tx);
      await tx.get('SELECT 1 FROM deletion_requests WHERE bot_id = ? FOR UPDATE', bot.id);
      // Its start does not wait for the job that waits for this lock.
      other = await Object.assign(new Service({}, service.database), { hasPeriods: true }).start();
      expect((await other.anonymous.get('/servers')).status).toBe(401);
    });
    await ended(left);
    await other?.app.close();
    expect(await left()).toBe('completed');
  });
});

describe('two requests to erase one guild, in two processes', () => {
  it('erase each user once between them, and tell the bot once', async () => {
    const users = [who, ...Array.from({ length: 39 }, () => ({ ...subject(), guild_id: who.guild_id }))];
    for (const user of users) await bot.hasRequest(user);
    await bot.post('/servers/register', { guild_id: who.guild_id });
    const other = await new Service({}, service.database).start();
    const answers = await Promise.all(
      [bot, new Client(other.url, bot.key)].map((client) =>
        client.delete<{ erased_users: number }>(`/servers/${who.guild_id}`),
      ),
    );
    await other.app.close();
    const counted = answers.map((answer) => (answer.status === 200 ? answer.data.erased_users : 0));
    expect(counted.reduce((sum, count) => sum + count)).toBe(users.length);
    const requests = await service.database.rows('SELECT id FROM deletion_requests WHERE bot_id = ?', bot.id);
    expect(requests).toHaveLength(users.length);
  });
});
