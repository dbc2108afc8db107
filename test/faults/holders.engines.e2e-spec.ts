import { databaseUnavailable, UnitOfWork } from '@app/database';
import { ErasureRecovery, ErasureReplay, EvidenceRetentionJob, GuildDeletion } from '@app/gdpr';
import { Clock } from '@app/kernel';
import { SubjectDataHolders } from '@app/crypto';
import type { Bot } from '../support/bot';
import { expectSuccess } from '../support/expected';
import { runNow } from '../support/jobs';
import { forms, get, send } from '../support/privacy-page';
import { useServiceInProcess } from '../support/service';
import { BOT_WIDE, snowflake, subject, type SubjectIds } from '../support/snowflakes';
import { passes } from '../support/time';
import { beforeEachUnit } from '../support/units';
import { until } from '../support/until';

const service = useServiceInProcess();
let bot: Bot;
beforeEach(async () => {
  bot = await service.registerBot();
  await bot.hasCategory('profile');
  await holder();
});
afterEach(() => jest.restoreAllMocks());

const holder = (key = 'database') =>
  bot.post('/holders', {
    key,
    kind: 'pull',
    covers: ['levels'],
    label_de: 'Datenbank',
    label_en: 'Database',
  });

interface Task {
  readonly task_id: string;
  readonly user_id: string;
  readonly guild_id: string;
  readonly result: string | null;
}
const tasks = async (key = 'database'): Promise<Task[]> =>
  (await bot.get<{ tasks: Task[] }>(`/holders/${key}/tasks?page_size=100`)).data.tasks;
/** The subjects of the open tasks, in any order. */
const named = async (): Promise<string[]> =>
  (await tasks()).map(({ user_id, guild_id }) => `${guild_id}/${user_id}`).sort();
const names = (people: readonly SubjectIds[]): string[] =>
  people.map(({ user_id, guild_id }) => `${guild_id}/${user_id}`).sort();

async function inhabited(count = 3, guild_id = snowflake()): Promise<SubjectIds[]> {
  await bot.post('/servers/register', { guild_id });
  const people = Array.from({ length: count }, () => ({ ...subject(), guild_id }));
  for (const who of people) {
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'x' });
  }
  return people;
}

describe('a task is made exactly once for each holder', () => {
  it('by the erasure of one user', async () => {
    const [who] = await inhabited(1);
    await bot.hasForgotten(who!);
    expect(await named()).toEqual(names([who!]));
  });

  it('by the erasure of a user in all guilds, for each guild and for the bot-wide scope', async () => {
    const { user_id } = subject();
    const people = [snowflake(), snowflake()].map((guild_id) => ({ user_id, guild_id }));
    for (const who of people) await bot.hasConsent(who);
    await bot.post('/gdpr/forget-user', { user_id, scope: 'all_guilds' });
    expect(await named()).toEqual(names([...people, { user_id, guild_id: BOT_WIDE }]));
  });

  it('by the deletion of a guild, for each user', async () => {
    const people = await inhabited();
    await bot.delete(`/servers/${people[0]!.guild_id}`);
    expect(await named()).toEqual(names(people));
  });

  it('by the job that deletes a guild after its days of grace', async () => {
    const people = await inhabited();
    const { data } = await bot.delete<{ scheduled_for: string }>(
      `/servers/${people[0]!.guild_id}?grace_days=7`,
    );
    expect(await named()).toEqual([]);
    jest.spyOn(service.app.get(Clock), 'nowMs').mockReturnValue(Date.parse(data.scheduled_for) + 1);
    await runNow(service, GuildDeletion);
    expect(await named()).toEqual(names(people));
  });

  it('by callers who share units, each for its own user and bot', async () => {
    await holder('cache');
    const people = await inhabited(12);
    const other = await service.registerBot();
    const strangers = Array.from({ length: 4 }, () => subject());
    const ids = await Promise.all([
      ...people.map((who) => bot.hasForgotten(who)),
      ...strangers.map((who) => other.hasForgotten(who)),
    ]);
    expect(await named()).toEqual(names(people));
    expect((await tasks('cache')).map(({ task_id }) => task_id).sort()).toEqual(ids.slice(0, 12).sort());
    const rows = await service.database.rows('SELECT 1 FROM holder_tasks WHERE bot_id = ?', other.id);
    expect(rows).toEqual([]);
  });

  it('by the user on the privacy page', async () => {
    const [who] = await inhabited(1);
    const { data } = await bot.post<{ url: string }>('/privacy-links', { ...who, language: 'en' });
    const form = forms(await get(`${data.url}/forget`), 'forget')[0]!;
    await send(data.url, 'forget', form);
    expect(await named()).toEqual(names([who!]));
  });

  it('by the recovery of an erasure that was left behind, and by no fault before it', async () => {
    const [who] = await inhabited(1);
    const destroy = jest.spyOn(service.app.get(UnitOfWork), 'destroyKeys');
    destroy.mockRejectedValue(databaseUnavailable());
    expect((await bot.post('/gdpr/forget-user', who)).status).toBe(503);
    expect(await named()).toEqual([]);
    destroy.mockRestore();
    passes(service, 60_000);
    await runNow(service, ErasureRecovery);
    await until(async () => (await named()).length > 0);
    expect(await named()).toEqual(names([who!]));
  });

  it('by no erasure that has failed', async () => {
    const [who] = await inhabited(1);
    const [first] = service.app.get(SubjectDataHolders).all();
    const erase = jest.spyOn(first!, 'erase').mockRejectedValue(new Error('broken'));
    expect((await bot.post('/gdpr/forget-user', who)).status).toBe(503);
    erase.mockRestore();
    expect(await named()).toEqual([]);
  });
});

describe('after a backup was restored', () => {
  const replay = () => service.app.get(ErasureReplay).run();
  const without = async (id: string): Promise<void> => {
    for (const sql of [
      'DELETE FROM holder_tasks WHERE bot_id = ? AND request_id = ?',
      'DELETE FROM deletion_requests WHERE bot_id = ? AND id = ?',
    ])
      await service.database.run(sql, bot.id, id);
  };

  it('the task of an erasure that is done again appears again, with the ids', async () => {
    const [who] = await inhabited(1);
    const id = await bot.hasForgotten(who!);
    await bot.post(`/holders/database/tasks/${id}/acknowledge`, { result: 'erased' });
    await bot.hasConsent(who!);
    await without(id);
    await replay();
    expect(await tasks()).toMatchObject([{ task_id: id, ...who, result: null }]);
  });

  it('the task of an erasure that is only noted appears again, with zeros in place of the lost ids', async () => {
    const [who] = await inhabited(1);
    const id = await bot.hasForgotten(who!);
    await without(id);
    await replay();
    const zeros = '0'.repeat(20);
    expect(await tasks()).toMatchObject([{ task_id: id, user_id: zeros, guild_id: zeros, result: null }]);
    expect((await bot.post(`/holders/database/tasks/${id}/acknowledge`, { result: 'nothing' })).status).toBe(
      200,
    );
  });

  it('an answer that the backup contains stays', async () => {
    const [who] = await inhabited(1);
    const id = await bot.hasForgotten(who!);
    await bot.post(`/holders/database/tasks/${id}/acknowledge`, { result: 'erased' });
    await replay();
    const { data } = await bot.get<object>(`/gdpr/forget-status/${id}`);
    expect(data).toMatchObject({ coverage: { complete: true } });
  });
});

describe('a task is removed', () => {
  const rows = async (of = bot) =>
    (await service.database.rows('SELECT 1 FROM holder_tasks WHERE bot_id = ?', of.id)).length;

  it('with its erasure by the retention of evidence, answered or not, and not before', async () => {
    for (const who of await inhabited(2)) await bot.hasForgotten(who);
    const [first] = await tasks();
    await bot.post(`/holders/database/tasks/${first!.task_id}/acknowledge`, { result: 'erased' });
    await runNow(service, EvidenceRetentionJob);
    expect(await rows()).toBe(2);
    jest.spyOn(service.app.get(Clock), 'nowMs').mockReturnValue(Date.now() + 1_200 * 86_400_000);
    await runNow(service, EvidenceRetentionJob);
    expect(await rows()).toBe(0);
  });

  it('with its bot', async () => {
    await bot.hasForgotten(subject());
    await bot.delete(`/bots/${bot.id}`);
    expect(await rows()).toBe(0);
    expect(await service.database.rows('SELECT 1 FROM bot_holders WHERE bot_id = ?', bot.id)).toEqual([]);
  });
});

describe('a holder that is registered or deleted while users are erased', () => {
  it('has a task for each erasure that began after the answer, and leaves no open one behind', async () => {
    const people = await inhabited(16);
    let registered = false;
    const erasing = people.map(async (who) => {
      const isAfter = registered;
      return { id: await bot.hasForgotten(who), isAfter };
    });
    await holder('cache').then(() => (registered = true));
    const late = await Promise.all(Array.from({ length: 4 }, () => bot.hasForgotten(subject())));
    const erased = await Promise.all(erasing);
    const open = (await tasks('cache')).map(({ task_id }) => task_id);
    const after = erased.filter(({ isAfter }) => isAfter).map(({ id }) => id);
    for (const id of [...late, ...after]) expect(open).toContain(id);
    await Promise.all([
      bot.delete('/holders/cache?abandon=true'),
      ...Array.from({ length: 8 }, () => bot.hasForgotten(subject())),
    ]);
    const left = await service.database.rows(
      `SELECT 1 FROM holder_tasks WHERE bot_id = ? AND holder_key = 'cache' AND open = 1`,
      bot.id,
    );
    expect(left).toEqual([]);
  });

  it('is deleted to its end, and says that it abandons the task of an erasure between two parts', async () => {
    const [who] = await inhabited(1);
    await bot.get(`/data/export/${who!.user_id}?guild_id=${who!.guild_id}&format=full`);
    await service.database.run(
      `INSERT INTO holder_exports (bot_id, guild_id, user_id, holder_key, task_id, ids, created_at, open)
       WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
       SELECT bot_id, guild_id, 'planted-' || i, holder_key, 'planted-' || i, ids, created_at, open
       FROM holder_exports, n WHERE bot_id = ?`,
      bot.id,
    );
    const left = () => service.database.rows('SELECT 1 FROM holder_exports WHERE bot_id = ?', bot.id);
    let erased: string | undefined;
    beforeEachUnit(service.app.get(UnitOfWork), async () => {
      if (erased !== undefined || (await left()).length !== 101) return;
      erased = '';
      erased = await bot.hasForgotten(subject());
    });
    const deleted = await bot.delete('/holders/database');
    expectSuccess(deleted, 200, { key: 'database', deleted: true, abandoned: 1 });
    expect(await left()).toEqual([]);
    const { data } = await bot.get<object>(`/gdpr/forget-status/${erased}`);
    expect(data).toMatchObject({ coverage: { complete: false, holders: [{ result: 'abandoned' }] } });
  });
});
