import { Bot, field, type RegisteredBot } from '../support/bot';
import { Client, type Json } from '../support/client';
import { answered, type Sent, useCrashes } from '../support/crashes';
import { engine } from '../support/database';
import { atDepth, isFull } from '../support/depth';
import { expectFailure } from '../support/expected';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';
import { until } from '../support/until';

const crashes = useCrashes();

async function countOf(bot: Bot, table: string, who: SubjectIds, type = ''): Promise<number> {
  const { user_id: userId } = await crashes.stored(bot, who);
  const ofType = type && ` AND event_type = '${type}'`;
  return crashes.count(`${table} WHERE user_id = ?${ofType}`, userId);
}

describe('kill -9 under load', () => {
  it('loses no acknowledged write, keeps every act and its audit event together, and leaves the file whole', async () => {
    const bot = await Bot.register(crashes.url);
    await bot.hasCategory('profile', [field('turn', 'number')]);
    const people = Array.from({ length: 8 }, () => subject());
    for (const who of people) await bot.hasConsent(who);
    const all: Sent<{ who: SubjectIds; turn: number }>[] = [];
    let turn = 0;
    for (const after of isFull ? [37, 120, 251] : [61]) {
      const sent = await crashes.killed({
        callers: people.length,
        next: (caller) => ({ who: people[caller]!, turn: ++turn }),
        send: ({ who, turn }) => bot.post('/data/submit', { ...who, category: 'profile', data: { turn } }),
        after,
        meanwhile: () => crashes.requireWhole(),
      });
      all.push(...sent);
      for (const who of people) {
        const mine = all.filter(({ given }) => given.who === who);
        const { data } = await bot.export<{ data: { profile: { turn: number } } }>(who);
        // The interrupted act is committed or not; every act before it is committed.
        const last = mine.findLastIndex(({ answer }) => answer !== undefined);
        expect(mine.slice(last).map(({ given }) => given.turn)).toContain(data.data.profile.turn);
        const counts = await countOf(bot, 'audit_events', who, 'data_submitted');
        expect(counts).toBeGreaterThanOrEqual(answered(mine).length);
        expect(counts).toBeLessThanOrEqual(mine.length);
      }
    }
  });

  it('leaves a consent, its history and its audit event together or not at all', async () => {
    const bot = await Bot.register(crashes.url);
    const sent = await crashes.killed({
      callers: 8,
      next: subject,
      send: (who) => bot.post('/consents/request', { ...who, consent_version: '1' }),
      after: atDepth(50, 150),
    });
    for (const { given: who, answer } of sent) {
      const tables = ['consents', 'consent_history', 'audit_events'];
      const counts = await Promise.all(tables.map((table) => countOf(bot, table, who)));
      expect(new Set(counts).size).toBe(1);
      if (answer !== undefined) expect(counts).toStrictEqual([1, 1, 1]);
    }
  });

  it('keeps a registration that was answered: its key works after the restart', async () => {
    const sent = await crashes.killed({
      callers: 4,
      next: () => ({ platform_bot_id: snowflake(), name: 'Test bot' }),
      send: (given) => new Client(crashes.url).post<RegisteredBot>('/bots/register', given),
      after: atDepth(15, 40),
    });
    for (const { answer } of answered(sent)) {
      const bot = new Bot(crashes.url, answer.data);
      expect((await bot.get(`/bots/${bot.id}`)).status).toBe(200);
    }
  });
});

describe('kill -9 during erasures', () => {
  it.each([
    ['few at a time', 8, atDepth(12, 25), atDepth(30, 60)],
    ['in the middle of a group', atDepth(16, 48), 1, atDepth(24, 96)],
    ['in the middle of a later group', atDepth(16, 48), atDepth(17, 49), atDepth(40, 96)],
  ])(
    '%s leaves no user half erased: the next start finishes what was begun, and what was answered stays erased',
    async (_, callers, after, users) => {
      const bot = await Bot.register(crashes.url);
      await bot.hasCategory('profile');
      const subjects: SubjectIds[] = [];
      for (let at = 0; at < users; at++) subjects.push(await bot.hasUser('x'));
      const left = [...subjects];
      const sent = await crashes.killed({
        callers,
        next: () => left.pop(),
        send: (who) => bot.post('/gdpr/forget-user', who),
        after,
        meanwhile: async () => {
          // On PostgreSQL recent requests are left to other processes, and leases of dead processes expire.
          await crashes.database.run(`UPDATE deletion_requests SET created_at = '2020-01-01T00:00:00.000Z'`);
          await crashes.endLeases();
        },
      });
      const forgotten = new Set(answered(sent).map(({ given }) => given));
      const states = () => crashes.database.rows<{ status: string }>('SELECT status FROM deletion_requests');
      let requests: { status: string }[] = [];
      await until(async () => {
        requests = await states();
        return engine === 'sqlite' || !requests.some(({ status }) => status === 'processing');
      });
      expect(new Set(requests.map(({ status }) => status))).toStrictEqual(new Set(['completed']));
      for (const who of subjects) {
        const erased = (await bot.eventTypes(who)).includes('deletion_completed');
        if (forgotten.has(who)) expect(erased).toBe(true);
        const answer = await bot.export(who);
        if (erased) expectFailure(answer, 404, 'not_found');
        else
          expect(answer.data).toMatchObject({
            consent: { status: 'accepted' },
            data: { profile: { value: 'x' } },
          });
      }
      crashes.requireWhole();
    },
  );

  it('finishes an erasure that was left processing, on SQLite before the first request is taken', async () => {
    const bot = await Bot.register(crashes.url);
    const id = '018f2f00-0000-7000-8000-00000000beef';
    await bot.hasCategory('profile');
    const who = await bot.hasUser('x');
    await crashes.kill();
    const stored = await crashes.stored(bot, who);
    await crashes.database.run(
      `INSERT INTO deletion_requests (bot_id, id, guild_id, user_id, status, webhook_sent, created_at)
           VALUES (?, ?, ?, ?, 'processing', 0, ?)`,
      bot.id,
      id,
      stored.guild_id,
      stored.user_id,
      '2020-01-01T00:00:00.000Z',
    );
    await crashes.start();
    const asked = () => bot.get(`/gdpr/forget-status/${id}`);
    if (engine === 'postgres') await until(async () => (await asked()).data['status'] !== 'processing');
    const { data } = await asked();
    expect(data).toMatchObject({ status: 'completed', deleted_categories: ['profile'] } satisfies Json);
    expectFailure(await bot.export(who), 404, 'not_found');
    expect(await bot.eventTypes(who)).toContain('deletion_completed');
  });
});
