import { JOB } from '@app/http';
import { type Tx, UnitOfWork } from '@app/database';
import { Acts, Claims } from '@app/acts';
import { SubmitAct } from '@app/user-data';
import type { Bot } from '../support/bot';
import type { Answer, Json } from '../support/client';
import { atDepth, itInPart } from '../support/depth';
import { Service } from '../support/service';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';
import { keptOpen } from '../support/units';

/** Two instances of the service on one database. */
const one = new Service();
let other: Service;
let bot: Bot;

beforeAll(async () => {
  await one.start();
  other = await new Service({ DATABASE_URL: one.database.url }).start();
});
beforeEach(async () => {
  bot = await one.registerBot();
  await bot.hasCategory('profile');
});
afterAll(async () => {
  await other.stop();
  await one.stop();
});

const ROUNDS = atDepth(4, 40);

/** Sends the same request to both instances at once. */
const toBoth = (path: string, body: Json, key: string) => toEach([bot, bot.at(other)], path, body, key);

function toEach(callers: readonly Bot[], path: string, body: Json, key: string): Promise<Answer[]> {
  return Promise.all(callers.map((each) => each.post(path, body, { 'idempotency-key': key })));
}

describe('a request that is sent to two instances at once with one Idempotency-Key', () => {
  itInPart.each<[string, (round: string) => Promise<Json>]>([
    ['/data/submit', async (round) => ({ category: 'profile', data: { value: round } })],
    ['/consents/accept', async (round) => ({ consent_version: (await bot.hasRequest(who, round)) && round })],
    ['/audit/event', async (round) => ({ event_type: 'data_exported', details: { round } })],
  ])('%s is done once, and both get its answer', async (path, given) => {
    await bot.hasConsent(who, 'first');
    const before = (await bot.eventTypes(who)).length;
    let made = 0;
    let replayed = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const requested = path === '/consents/accept' ? 1 : 0;
      const answers = await toBoth(path, { ...who, ...(await given(`${round}`)) }, `${path}-${round}`);
      expect(answers.map(({ status }) => status)).toStrictEqual([answers[0]!.status, answers[0]!.status]);
      expect(answers[0]!.status).toBeLessThan(300);
      expect(answers[1]!.text).toBe(answers[0]!.text);
      replayed += answers.filter((answer) => answer.header('idempotent-replayed') === 'true').length;
      made += 1 + requested;
    }
    expect(replayed).toBe(ROUNDS);
    expect(await countOfEvents()).toBe(before + made);
  });

  itInPart('erases once, and both get the salt of the certificate', async () => {
    for (let round = 0; round < ROUNDS / 4; round++) {
      const whom = subject();
      await bot.hasConsent(whom);
      const answers = await toBoth('/gdpr/forget-user', { ...whom }, `erase-${round}`);
      expect(answers.map(({ status }) => status)).toStrictEqual([200, 200]);
      expect(answers[1]!.text).toBe(answers[0]!.text);
    }
    const requests = await one.database.rows('SELECT 1 FROM deletion_requests WHERE bot_id = ?', bot.id);
    expect(requests).toHaveLength(ROUNDS / 4);
  });

  itInPart('replays webhook calls once, part by part', async () => {
    const [since, calls] = ['2026-01-01T00:00:00Z', 8];
    const own = await one.registerBot({ webhook_url: 'http://127.0.0.1:8088/closed' });
    for (let at = 0; at < calls; at++) {
      const whom = subject();
      await own.hasConsent(whom);
      await own.hasRevoked(whom);
    }
    const end = `UPDATE webhook_deliveries SET status = 'exhausted', finished_at = created_at WHERE bot_id = ?`;
    for (let round = 0; round < ROUNDS / 4; round++) {
      await one.database.run(end, own.id);
      const answers = await Promise.all(
        [own, own.at(other)].map((each) =>
          each.post<{ queued: number }>(
            '/webhooks/replay',
            { since },
            { 'idempotency-key': `replay-${round}` },
          ),
        ),
      );
      expect(answers.map(({ data }) => data.queued)).toStrictEqual([calls, calls]);
      expect(answers.filter((answer) => answer.header('idempotent-replayed') === 'true')).toHaveLength(1);
    }
  });

  itInPart('erases in all guilds once, and whoever is answered 200 gets every request', async () => {
    for (let round = 0; round < ROUNDS / 4; round++) {
      const { user_id } = subject();
      const guilds = Array.from({ length: 3 }, () => subject().guild_id);
      for (const guild_id of guilds) await bot.hasConsent({ user_id, guild_id });
      const send = (...callers: Bot[]) =>
        toEach(callers, '/gdpr/forget-user', { user_id, scope: 'all_guilds' }, `everywhere-${round}`);
      const raced = await send(bot, bot.at(other));
      // Alone, each instance repeats the answer.
      const alone = [await send(bot), await send(bot.at(other))].flat();
      const answers = [...raced, ...alone] as Answer<{ requests: Json[] }>[];
      expect(alone.map(({ status }) => status)).toStrictEqual([200, 200]);
      const done = answers.filter(({ status }) => status === 200);
      for (const { data } of done)
        expect(data.requests.map((each) => each['guild_id']).sort()).toStrictEqual([...guilds].sort());
      expect(new Set(done.map(({ data }) => JSON.stringify(sorted(data.requests)))).size).toBe(1);
      for (const answer of answers) if (answer.status !== 200) expect(answer.status).toBe(409);
    }
    const requests = await one.database.rows('SELECT 1 FROM deletion_requests WHERE bot_id = ?', bot.id);
    expect(requests).toHaveLength((ROUNDS / 4) * 3);
  });

  it('about two users in one shared transaction, the second one is 409', async () => {
    const users = [subject(), subject()];
    await Promise.all(users.map((whom) => bot.hasConsent(whom)));
    const claims = one.app.get(Claims, { strict: false });
    const [acts, act] = [one.app.get(Acts), one.app.get(SubmitAct, { strict: false })];
    const submit = (whom: object, at: number) => {
      const body = { ...whom, category: 'profile', data: { value: 'a' } } as never;
      const headers = { 'idempotency-key': 'one-key' };
      const request = {
        method: 'POST',
        path: `/${at}`,
        headers,
        body,
        context: { caller: { botId: bot.id } },
      };
      return acts.run(
        act,
        act.of({ botId: bot.id, actor: JOB }, body),
        claims.of({ ...request, path: '/same' } as never),
      );
    };
    // Without a response nothing ends the first request, as where its client has gone.
    Reflect.set(claims, 'underWay', { has: () => false, add: () => undefined });
    // Both wait for a connection, and share a transaction then.
    const connections = 16;
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let begun = 0;
    const hold = async (tx: Tx): Promise<void> => {
      await keptOpen(tx);
      begun += 1;
      return released;
    };
    const blocked = Array.from({ length: connections }, () => one.app.get(UnitOfWork).write(hold));
    await until(() => begun >= 8);
    const submitted = [subject(), ...users].map(submit);
    release();
    const ended = (await Promise.allSettled(submitted)).slice(1);
    await Promise.all(blocked);
    Reflect.set(claims, 'underWay', new Set());
    const refused = ended.flatMap((end) => (end.status === 'rejected' ? [end.reason as object] : []));
    expect(refused).toStrictEqual([expect.objectContaining({ code: 'conflict' })]);
  });

  it('of many users at once, which share transactions, each takes effect once', async () => {
    const users = Array.from({ length: 60 }, () => subject());
    await Promise.all(users.map((whom) => bot.hasConsent(whom)));
    const answers = await Promise.all(
      users.map((whom, at) =>
        toBoth('/data/submit', { ...whom, category: 'profile', data: { value: 'a' } }, `many-${at}`),
      ),
    );
    for (const [first, second] of answers) {
      expect([first!.status, second!.status]).toStrictEqual([200, 200]);
      expect(second!.text).toBe(first!.text);
    }
    expect(await countOfEvents(`event_type = 'data_submitted'`)).toBe(users.length);
  });

  it('with other bodies, about many users at once: one of each two takes effect, the other is 409', async () => {
    const users = Array.from({ length: 60 }, () => [subject(), subject()] as const);
    await Promise.all(users.flat().map((whom) => bot.hasConsent(whom)));
    const send = (to: Bot, whom: object, at: number): Promise<Answer> =>
      to.post(
        '/data/submit',
        { ...whom, category: 'profile', data: { value: 'a' } },
        { 'idempotency-key': `pair-${at}` },
      );
    const statuses = await Promise.all(
      users.map(async ([first, second], at) => {
        const answers = await Promise.all([send(bot, first, at), send(bot.at(other), second, at)]);
        return answers.map(({ status }) => status).sort();
      }),
    );
    expect(statuses).toStrictEqual(users.map(() => [200, 409]));
    expect(await countOfEvents(`event_type = 'data_submitted'`)).toBe(users.length);
  });
});

const who = subject();

const sorted = (requests: readonly Json[]) =>
  [...requests].sort((a, b) => String(a['guild_id']).localeCompare(String(b['guild_id'])));

async function countOfEvents(which = 'true'): Promise<number> {
  return (await one.database.rows(`SELECT 1 FROM audit_events WHERE bot_id = ? AND ${which}`, bot.id)).length;
}
