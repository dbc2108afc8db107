import { Bot, field } from '../support/bot';
import type { Json } from '../support/client';
import { useCrashes } from '../support/crashes';
import { engine } from '../support/database';
import { atDepth, isFull } from '../support/depth';
import { expectFailure } from '../support/expected';
import { subject, type SubjectIds } from '../support/snowflakes';
import { unlessCut } from '../support/unless-cut';
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
    const clients = Array.from({ length: 8 }, () => ({
      who: subject(),
      stored: 0,
      sent: 0,
      acknowledged: 0,
    }));
    for (const { who } of clients) await bot.hasConsent(who);
    const submit = async (caller: number): Promise<boolean> => {
      const client = clients[caller]!;
      const turn = ++client.sent;
      const answer = await unlessCut(
        bot.post('/data/submit', { ...client.who, category: 'profile', data: { turn } }),
      );
      if (answer?.status !== 200) return false;
      client.stored = turn;
      client.acknowledged += 1;
      return true;
    };
    for (const after of isFull ? [37, 120, 251] : [61]) {
      await crashes.killDuring(submit, { callers: clients.length, after });
      crashes.requireWhole();
      await crashes.start();
      for (const client of clients) {
        const { data } = await bot.export<{ data: { profile: { turn: number } } }>(client.who);
        // The interrupted act is committed or not; every act before it is committed.
        expect([client.stored, client.sent]).toContain(data.data.profile.turn);
        const counts = await countOf(bot, 'audit_events', client.who, 'data_submitted');
        expect(counts).toBeGreaterThanOrEqual(client.acknowledged);
        expect(counts).toBeLessThanOrEqual(client.sent);
      }
    }
  });

  it('leaves a consent, its history and its audit event together or not at all', async () => {
    const bot = await Bot.register(crashes.url);
    const acknowledged: SubjectIds[] = [];
    const asked: SubjectIds[] = [];
    const ask = async (): Promise<boolean> => {
      const who = subject();
      asked.push(who);
      const answer = await unlessCut(bot.post('/consents/request', { ...who, consent_version: '1' }));
      if (answer?.status === 201) acknowledged.push(who);
      return answer?.status === 201;
    };
    await crashes.killDuring(ask, { callers: 8, after: atDepth(50, 150) });
    await crashes.start();
    const tables = ['consents', 'consent_history', 'audit_events'];
    const counts = await Promise.all(
      asked.map((who) => Promise.all(tables.map((table) => countOf(bot, table, who)))),
    );
    for (const [index, row] of counts.entries()) {
      expect(new Set(row).size).toBe(1);
      if (acknowledged.includes(asked[index] as SubjectIds)) expect(row).toStrictEqual([1, 1, 1]);
    }
  });

  it('keeps a registration that was answered: its key works after the restart', async () => {
    const bots: Bot[] = [];
    const register = async (): Promise<boolean> => {
      const bot = await unlessCut(Bot.register(crashes.url));
      if (bot !== undefined) bots.push(bot);
      return bot !== undefined;
    };
    await crashes.killDuring(register, { callers: 4, after: atDepth(15, 40) });
    await crashes.start();
    for (const bot of bots) expect((await bot.get(`/bots/${bot.id}`)).status).toBe(200);
  });
});

describe('kill -9 during erasures', () => {
  it.each([
    ['few at a time', 8, atDepth(12, 25), atDepth(30, 60)],
    ['in the middle of a group', 48, 1, 96],
    ['in the middle of a later group', 48, 49, 96],
  ])(
    '%s leaves no user half erased: the next start finishes what was begun, and what was answered stays erased',
    async (_, callers, after, users) => {
      const bot = await Bot.register(crashes.url);
      await bot.hasCategory('profile');
      const subjects = Array.from({ length: users }, () => subject());
      for (const who of subjects) {
        await bot.hasConsent(who);
        await bot.hasData(who, 'profile', { value: 'x' });
      }
      const answered = new Set<SubjectIds>();
      const left = [...subjects];
      const forget = async (): Promise<boolean> => {
        const who = left.pop();
        const answer = who && (await unlessCut(bot.post('/gdpr/forget-user', who)));
        if (answer?.status === 200) answered.add(who!);
        return answer?.status === 200;
      };
      await crashes.killDuring(forget, { callers, after });
      // On PostgreSQL recent requests are left to other processes, and leases of dead processes expire.
      await crashes.database.run(`UPDATE deletion_requests SET created_at = '2020-01-01T00:00:00.000Z'`);
      await crashes.endLeases();
      await crashes.start();
      const states = () => crashes.database.rows<{ status: string }>('SELECT status FROM deletion_requests');
      let requests: { status: string }[] = [];
      await until(async () => {
        requests = await states();
        return engine === 'sqlite' || !requests.some(({ status }) => status === 'processing');
      });
      expect(new Set(requests.map(({ status }) => status))).toStrictEqual(new Set(['completed']));
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
      crashes.requireWhole();
    },
  );

  it('finishes an erasure that was left processing, on SQLite before the first request is taken', async () => {
    const bot = await Bot.register(crashes.url);
    const who = subject();
    const id = '018f2f00-0000-7000-8000-00000000beef';
    await bot.hasCategory('profile');
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'x' });
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
