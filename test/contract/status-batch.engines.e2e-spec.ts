import type { Bot } from '../support/bot';
import { type Answer, Client, type Json } from '../support/client';
import { consentStatus, expectFailure, expectFaults, expectSuccess } from '../support/expected';
import { useServiceInProcess } from '../support/service';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';

const service = useServiceInProcess();
let bot: Bot;
let guild: string;
beforeEach(async () => {
  bot = await service.registerBot();
  guild = snowflake();
});

const user = (): SubjectIds => ({ user_id: snowflake(), guild_id: guild });
const statuses = (items: unknown, of: Client = bot) =>
  of.post<{ results: Json[] }>('/consents/status/batch', { items });
/** The results of the single requests. */
const alone = async (those: readonly SubjectIds[]): Promise<Json[]> => {
  const answers: Answer[] = [];
  for (const who of those) answers.push(await bot.status(who));
  return answers.map(({ data }) => data);
};

describe('POST /api/v1/consents/status/batch', () => {
  it('answers each user, in the order given, what the single request answers', async () => {
    await bot.hasCategory('profile');
    await bot.hasCategory('notes');
    const those = [user(), user(), user(), user(), user(), user()] as const;
    const [pending, accepted, revoked, partly, renewed, erased] = those;
    await bot.hasRequest(pending);
    for (const who of those.slice(1)) await bot.hasConsent(who);
    for (const who of [revoked, partly, erased]) {
      await bot.hasData(who, 'profile', { value: 'x' });
      await bot.hasData(who, 'notes', { value: 'x' });
    }
    await bot.hasRevoked(revoked);
    await bot.post('/consents/revoke', { ...partly, categories: ['notes'] });
    await bot.hasRequest(renewed, '2.0');
    await bot.hasForgotten(erased);
    const elsewhere = { ...accepted, guild_id: snowflake() };
    const asked = [user(), ...those, accepted, pending, elsewhere];
    const answer = await statuses(asked);
    expectSuccess(answer, 200, { results: await alone(asked) });
    expect(answer.data.results.map(({ status }) => status)).toStrictEqual([
      ...[
        'none',
        'pending',
        'accepted',
        'revoked',
        'accepted',
        'accepted',
        'none',
        'accepted',
        'pending',
        'none',
      ],
    ]);
    expect(answer.data.results[3]).toHaveProperty('data_erased_at');
  });

  it('answers 100 users, and those of the bot-wide scope with the list of their categories', async () => {
    const those = Array.from({ length: 100 }, () => ({ user_id: snowflake(), guild_id: '0'.repeat(17) }));
    await bot.hasConsent(those[50]!);
    const { data } = await statuses(those);
    expect(data.results).toHaveLength(100);
    expect(data.results[50]).toStrictEqual((await alone([those[50]!]))[0]);
    expect(data.results[51]).toStrictEqual(consentStatus(those[51]!, { categories: [] }));
  });

  it('answers 400 for the whole to a malformed item, and names every bad field', async () => {
    const bad = [
      1,
      null,
      'x',
      [],
      {},
      { user_id: 1, guild_id: guild },
      { ...user(), guild_id: '1'.repeat(21) },
    ];
    for (const item of bad) {
      const answer = await statuses([user(), item]);
      expectFailure(answer, 400, 'invalid_request');
      const { fields } = answer.error.details as { fields: { field: string }[] };
      for (const { field } of fields) expect(field).toMatch(/^items\[1\]/);
    }
    expectFaults(
      await statuses([{ ...user(), user_id: 'x' }, user(), {}]),
      ...['items[0].user_id', 'items[2].user_id', 'items[2].guild_id'],
    );
  });

  it.each([
    ['no list', undefined],
    ['null', null],
    ['an empty list', []],
    ['a text', '123456789012345678'],
    ['101 items', Array.from({ length: 101 }, subject)],
  ])('answers 400 for the whole to %s', async (_, items) => {
    expectFaults(await statuses(items), 'items');
  });

  it('answers 401 without a key', async () => {
    expectFailure(await statuses([user()], service.anonymous), 401, 'unauthorized');
  });

  it('shows nothing of another bot or another guild', async () => {
    const who = user();
    const other = await service.registerBot();
    await other.hasConsent(who);
    await bot.hasConsent({ ...who, guild_id: snowflake() });
    expect((await statuses([who])).data.results).toStrictEqual([consentStatus(who)]);
  });

  it('changes nothing, and an Idempotency-Key has no effect: a repeat shows the present state', async () => {
    const who = subject();
    const ask = () =>
      bot.post<{ results: Json[] }>('/consents/status/batch', { items: [who] }, { 'idempotency-key': 'x' });
    await ask();
    expect(await bot.eventTypes(who)).toStrictEqual([]);
    await bot.hasConsent(who);
    const again = await ask();
    expect(again.data.results).toStrictEqual(await alone([who]));
    expect(again.header('idempotent-replayed')).toBeUndefined();
    expect(await service.database.rows('SELECT 1 FROM idempotency_keys WHERE bot_id = ?', bot.id)).toEqual(
      [],
    );
  });
});
