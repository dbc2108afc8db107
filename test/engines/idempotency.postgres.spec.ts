import { type Bot } from '../support/bot';
import type { Answer, Json } from '../support/client';
import { Service } from '../support/service';
import { subject } from '../support/snowflakes';

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

const ROUNDS = 40;

/** Sends the same request to both instances at once. */
function toBoth(path: string, body: Json, key: string): Promise<Answer[]> {
  return Promise.all([bot, bot.at(other)].map((each) => each.post(path, body, { 'idempotency-key': key })));
}

describe('a request that is sent to two instances at once with one Idempotency-Key', () => {
  it.each<[string, (round: string) => Promise<Json>]>([
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

  it('erases once, and both get the salt of the certificate', async () => {
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

async function countOfEvents(which = 'true'): Promise<number> {
  return (await one.database.rows(`SELECT 1 FROM audit_events WHERE bot_id = ? AND ${which}`, bot.id)).length;
}
