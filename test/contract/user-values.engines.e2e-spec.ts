import { type Bot, field } from '../support/bot';
import type { Answer, Json } from '../support/client';
import { A_TIME, expectFailure, expectFaults, expectSuccess, pagination } from '../support/expected';
import { BAD_SNOWFLAKE_TEXTS } from '../support/inputs';
import { useService } from '../support/shared-service';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';

const service = useService();
let bot: Bot;
let who: SubjectIds;
let guild: string;
beforeEach(async () => {
  bot = await service.registerBot();
  who = subject();
  guild = snowflake();
  for (const key of ['profile', 'notes']) await bot.hasCategory(key, [field('value'), field('other')]);
});

const queryOf = ({ user_id, guild_id }: SubjectIds, category?: string) =>
  `/data/values/${user_id}?guild_id=${guild_id}${category === undefined ? '' : `&category=${category}`}`;
const read = (whom = who, category?: string) => bot.get(queryOf(whom, category));
const erase = (whom = who, category = 'profile') => bot.delete<{ deleted: boolean }>(queryOf(whom, category));
const ofGuild = (more = '', of: Bot = bot) =>
  of.get<{ values: Json[]; pagination: Json }>(`/data/values?guild_id=${guild}&category=profile${more}`);
const valuesOf = (whom: SubjectIds, values: Json) => ({
  ...whom,
  values,
  updated_at: Object.fromEntries(Object.keys(values).map((key) => [key, A_TIME])),
});

async function stored(whom = who, value = 'a'): Promise<SubjectIds> {
  await bot.hasConsent(whom);
  for (const key of ['profile', 'notes']) await bot.hasData(whom, key, { value });
  return whom;
}

const expectNoConsent = (answer: Answer<unknown>, status: string) =>
  expectFailure(answer, 403, 'consent_required', { current_status: status });

/** Replaces a stored value of the user in the database. */
const tamper = async (category: string) => {
  const { guild_id, user_id } = service.stored(bot, who);
  await service.database.run(
    `UPDATE user_data SET value = '{}' WHERE bot_id = '${bot.id}' AND guild_id = '${guild_id}'
     AND user_id = '${user_id}' AND category_key = '${category}'`,
  );
};

it('shows nothing of a user from the beginning of the erasure on', async () => {
  await stored({ ...who, guild_id: guild });
  const { guild_id, user_id } = service.stored(bot, { ...who, guild_id: guild });
  await service.database.run(
    `UPDATE consents SET erasing = 1 WHERE bot_id = '${bot.id}' AND guild_id = '${guild_id}' AND user_id = '${user_id}'`,
  );
  expectNoConsent(await read({ ...who, guild_id: guild }), 'accepted');
  expectSuccess(await ofGuild(), 200, { values: [], pagination: pagination(1, 20, 0) });
});

describe('GET /api/v1/data/values/{user_id}', () => {
  it('answers what is stored, of all categories or of one, and writes no audit event', async () => {
    await stored();
    const before = await bot.eventTypes(who);
    expectSuccess(await read(), 200, valuesOf(who, { notes: { value: 'a' }, profile: { value: 'a' } }));
    expectSuccess(await read(who, 'notes'), 200, valuesOf(who, { notes: { value: 'a' } }));
    expect(await bot.eventTypes(who)).toStrictEqual(before);
  });

  it('answers empty values where nothing is stored', async () => {
    await bot.hasConsent(who);
    expectSuccess(await read(), 200, valuesOf(who, {}));
    expectSuccess(await read(who, 'profile'), 200, valuesOf(who, {}));
  });

  it('shows nothing of other guilds, users and bots', async () => {
    await stored({ ...who, guild_id: snowflake() });
    await stored({ ...who, user_id: snowflake() });
    await bot.hasConsent(who);
    expectSuccess(await read(), 200, valuesOf(who, {}));
    const other = await service.registerBot();
    expectNoConsent(await other.get(queryOf(who)), 'none');
  });

  it('answers 403 without a consent in force', async () => {
    expectNoConsent(await read(), 'none');
    await bot.hasRequest(who);
    expectNoConsent(await read(), 'pending');
    await stored();
    await bot.hasRevoked(who);
    expectNoConsent(await read(), 'revoked');
    await bot.hasForgotten(who);
    expectNoConsent(await read(), 'none');
  });

  it('answers 403 for a category that the consent does not cover, and leaves it out of all', async () => {
    await stored();
    await bot.post('/consents/revoke', { ...who, categories: ['notes'] });
    expectNoConsent(await read(who, 'notes'), 'accepted');
    expectSuccess(await read(), 200, valuesOf(who, { profile: { value: 'a' } }));
  });

  it('answers 404 for a category that is not declared, behind the 403', async () => {
    expectNoConsent(await read(who, 'unknown'), 'none');
    await bot.hasConsent(who);
    expectFailure(await read(who, 'unknown'), 404, 'not_found');
  });

  it('takes bot_id in place of guild_id', async () => {
    const botWide = { ...who, guild_id: '0'.repeat(17) };
    await stored(botWide);
    const answer = await bot.get(`/data/values/${who.user_id}?bot_id=${bot.platformBotId}&category=notes`);
    expectSuccess(answer, 200, valuesOf(botWide, { notes: { value: 'a' } }));
    expectFailure(await bot.get(`/data/values/${who.user_id}?bot_id=x`), 404, 'not_found');
  });

  it('answers 500 with the categories whose values cannot be decrypted, and the others alone', async () => {
    await stored();
    await tamper('profile');
    expectFailure(await read(), 500, 'internal_error', { categories: ['profile'] });
    expectSuccess(await read(who, 'notes'), 200, valuesOf(who, { notes: { value: 'a' } }));
  });

  it('answers more than 256 KiB in pieces, with the same bytes', async () => {
    const text = 'ä"\\ \u2028'.padEnd(60_000, 'x');
    for (let at = 0; at < 6; at++) await bot.hasCategory(`c${at}`);
    await bot.hasConsent(who);
    for (let at = 0; at < 6; at++) await bot.hasData(who, `c${at}`, { value: text });
    const answer = await read();
    const values = Object.fromEntries([0, 1, 2, 3, 4, 5].map((at) => [`c${at}`, { value: text }]));
    expectSuccess(answer, 200, valuesOf(who, values));
    expect(answer.text).toBe(JSON.stringify(answer.body));
    expect(answer.header('content-length')).toBeUndefined();
  });

  it.each(BAD_SNOWFLAKE_TEXTS)('answers 400 for a user_id and guild_id %s', async (_, id) => {
    const bad = encodeURIComponent(String(id));
    expectFaults(await bot.get(`/data/values/${bad}?guild_id=${guild}`), 'user_id');
    expectFaults(await bot.get(`/data/values/${who.user_id}?guild_id=${bad}`), 'guild_id');
  });
});

describe('GET /api/v1/data/values', () => {
  const people = (count: number) =>
    Array.from({ length: count }, () => ({ user_id: snowflake(), guild_id: guild }));
  const item = ({ user_id }: SubjectIds, value = 'a') => ({ user_id, data: { value }, updated_at: A_TIME });

  it('answers each user of the guild with a covering consent once, page by page in a fixed order', async () => {
    const those = people(7);
    for (const [at, each] of those.entries()) await stored(each, `v${at}`);
    await stored({ ...those[0]!, guild_id: snowflake() });
    const whole = (await ofGuild()).data;
    expect(whole.pagination).toStrictEqual(pagination(1, 20, 7));
    expect(new Set(whole.values.map(({ user_id }) => user_id)).size).toBe(7);
    expect(whole.values).toStrictEqual(
      expect.arrayContaining(those.map((each, at) => item(each, `v${at}`))) as unknown,
    );
    const paged: Json[] = [];
    for (const page of [1, 2, 3, 4]) {
      const { data } = await ofGuild(`&page_size=2&page=${page}`);
      expect(data.pagination).toStrictEqual(pagination(page, 2, 7));
      paged.push(...data.values);
    }
    expect(paged).toStrictEqual(whole.values);
    expectSuccess(await ofGuild('&page_size=2&page=5'), 200, { values: [], pagination: pagination(5, 2, 7) });
  });

  it('leaves out users whose consent is asked for, revoked, erased or covers other categories', async () => {
    const [kept, partly, revoked, erased, asked, narrow, none] = people(7);
    for (const each of [kept, partly, revoked, erased, asked]) await stored(each);
    await bot.post('/consents/revoke', { ...partly, categories: ['profile'] });
    await bot.hasRevoked(revoked!);
    await bot.hasForgotten(erased!);
    await bot.hasRevoked(asked!);
    await bot.hasRequest(asked!, '2.0');
    await bot.post('/consents/request', { ...narrow, consent_version: '1', categories: ['profile'] });
    await bot.post('/consents/accept', { ...narrow, consent_version: '1' });
    await bot.hasData(narrow!, 'profile', { value: 'a' });
    await bot.hasConsent(none!);
    const { values, pagination: page } = (await ofGuild()).data;
    expect(page).toStrictEqual(pagination(1, 20, 2));
    expect(values.map(({ user_id }) => user_id).sort()).toStrictEqual(
      [kept!.user_id, narrow!.user_id].sort(),
    );
  });

  it('shows the value of an accepted consent while a newer request waits, and writes no audit event', async () => {
    const [each] = people(1);
    await stored(each);
    await bot.hasRequest(each!, '2.0');
    const before = await bot.eventTypes(each!);
    expect((await ofGuild()).data.values).toStrictEqual([item(each!)]);
    expect(await bot.eventTypes(each!)).toStrictEqual(before);
  });

  it('answers 404 for a category that is not declared, and an empty list for one without values', async () => {
    expectFailure(await bot.get(`/data/values?guild_id=${guild}&category=unknown`), 404, 'not_found');
    expectSuccess(await ofGuild(), 200, { values: [], pagination: pagination(1, 20, 0) });
    expectFailure(await ofGuild('', await service.registerBot()), 404, 'not_found');
  });

  it('answers 400 without guild or category', async () => {
    expectFaults(await bot.get('/data/values'), 'category', 'guild_id');
    expectFaults(await ofGuild('&page=0'), 'page');
  });

  it('hides no user behind a value that cannot be decrypted', async () => {
    const [one, other] = people(2);
    await stored(one);
    await stored(other);
    who = one!;
    await tamper('profile');
    const { values } = (await ofGuild()).data;
    expect(values).toHaveLength(2);
    expect(values).toContainEqual(item(other!));
    expect(values).toContainEqual({ ...item(one!), data: null, unreadable: true });
  });

  it('answers a page of more than 256 KiB in pieces, with the same bytes', async () => {
    for (const each of people(6)) {
      await bot.hasConsent(each);
      await bot.hasData(each, 'profile', { value: 'ä"\\'.padEnd(60_000, 'x') });
    }
    const answer = await ofGuild();
    expect(answer.text).toBe(JSON.stringify(answer.body));
    expect(answer.header('content-length')).toBeUndefined();
    expect((answer.body as { data: { values: Json[] } }).data.values).toHaveLength(6);
  });

  it('takes bot_id in place of guild_id', async () => {
    await stored({ ...who, guild_id: '0'.repeat(17) });
    const { data } = await bot.get<{ values: Json[] }>(`/data/values?bot_id=${bot.id}&category=profile`);
    expect(data.values).toStrictEqual([item(who)]);
  });
});

describe('DELETE /api/v1/data/values/{user_id}', () => {
  it('erases one category of one user, once, and leaves the consent', async () => {
    await stored();
    const elsewhere = await stored({ ...who, guild_id: snowflake() });
    expectSuccess(await erase(), 200, { deleted: true });
    expectSuccess(await erase(), 200, { deleted: false });
    expectSuccess(await read(), 200, valuesOf(who, { notes: { value: 'a' } }));
    expect((await read(elsewhere, 'profile')).data).toMatchObject({ values: { profile: { value: 'a' } } });
    const types = await bot.eventTypes(who);
    expect(types.filter((type) => type === 'data_deleted')).toHaveLength(1);
    expect(
      (await bot.get<{ events: Json[] }>('/audit/events?event_type=data_deleted')).data.events,
    ).toMatchObject([{ ...who, details: { category: 'profile' }, source: 'service' }]);
    await bot.hasData(who, 'profile', { value: 'b' });
    expect((await read(who, 'profile')).data).toMatchObject({ values: { profile: { value: 'b' } } });
  });

  it('needs no consent in force', async () => {
    await stored();
    await bot.hasRevoked(who);
    expectSuccess(await erase(), 200, { deleted: true });
    expect((await bot.export<{ data: Json }>(who)).data.data).toStrictEqual({ notes: { value: 'a' } });
    expectSuccess(await erase(subject()), 200, { deleted: false });
  });

  it('answers 404 for a category that is not declared, and false for the values of another bot', async () => {
    await stored();
    expectFailure(await erase(who, 'unknown'), 404, 'not_found');
    const other = await service.registerBot();
    await other.hasCategory('profile');
    expectSuccess(await other.delete(queryOf(who, 'profile')), 200, { deleted: false });
    expect((await read(who, 'profile')).data).toMatchObject({ values: { profile: { value: 'a' } } });
  });

  it('erases a value that cannot be decrypted', async () => {
    await stored();
    await tamper('profile');
    expectSuccess(await erase(), 200, { deleted: true });
    expectSuccess(await read(), 200, valuesOf(who, { notes: { value: 'a' } }));
  });

  it('answers 400 without category', async () => {
    expectFaults(await bot.delete(`/data/values/${who.user_id}?guild_id=${guild}`), 'category');
  });

  it('at the same time as submits leaves nothing of those before it', async () => {
    await bot.hasConsent(who);
    for (let round = 0; round < 5; round++) {
      await bot.hasData(who, 'profile', { other: `${round}` });
      const submit = (at: number) =>
        bot.post('/data/submit', { ...who, category: 'profile', data: { value: `${at}` }, mode: 'merge' });
      await Promise.all([submit(1), submit(2), erase(), submit(3), submit(4)]);
      const last = (await bot.eventTypes(who)).at(-1);
      const { values } = (await read(who, 'profile')).data as { values: Json };
      expect(values['profile'] === undefined).toBe(last === 'data_deleted');
      expect(values['profile'] ?? {}).not.toHaveProperty('other');
    }
  });
});
