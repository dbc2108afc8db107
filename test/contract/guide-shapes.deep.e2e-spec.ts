import document from '../../openapi.json';
import { type Bot, field } from '../support/bot';
import { Client, type Json, PREFIX } from '../support/client';
import {
  A_TEXT,
  A_TIME,
  AN_ID,
  category,
  consentRecord,
  consentStatus,
  expectFailure,
  expectFaults,
  expectSameRefusal,
  expectSuccess,
  pagination,
  registeredBot,
  submitted,
} from '../support/expected';
import { BAD_SNOWFLAKES, UNKNOWN_UUID } from '../support/inputs';
import { useService } from '../support/shared-service';
import { BOT_WIDE, snowflake, subject } from '../support/snowflakes';

const service = useService();
let bot: Bot;
let user: string;
beforeEach(async () => {
  bot = await service.registerBot({ name: 'Guide bot' });
  user = snowflake();
});

const guideCategory = (name: string, more: Json = {}): Json => ({
  name,
  description: `About ${name}`,
  retention_days: 90,
  legal_basis: 'consent',
  ...more,
});
const declare = (...names: string[]) =>
  bot.post<{ categories: Json[] }>('/data/register', {
    bot_id: bot.id,
    categories: names.map((name) => guideCategory(name)),
  });

interface Requested {
  readonly consent_id: string;
  readonly version: string;
  readonly texts: { readonly categories: readonly Json[] } & Json;
}
const request = (categories: readonly string[], more: Json = {}) =>
  bot.post<Requested>('/consents/request', { bot_id: bot.id, user_id: user, categories, ...more });
const accept = (consentId: string, more: Json = {}) =>
  bot.post('/consents/accept', { consent_id: consentId, ...more });
const revoke = (more: Json = {}) => bot.post('/consents/revoke', { bot_id: bot.id, user_id: user, ...more });
const status = () => bot.get(`/consents/status?bot_id=${bot.id}&user_id=${user}`);
const submit = (categoryKey: string, data: unknown) =>
  bot.post('/data/submit', { bot_id: bot.id, user_id: user, category: categoryKey, data });
const statuses = async () => {
  const listed = (await status()).data['categories'] as { key: string; status: string }[];
  return Object.fromEntries(listed.map(({ key, status: state }) => [key, state]));
};
/** Declares, requests and accepts. */
async function granted(...names: string[]): Promise<void> {
  await declare(...names);
  await accept((await request(names)).data.consent_id);
}

const who = () => ({ user_id: user, guild_id: BOT_WIDE });

describe('POST /api/v1/bots/register {bot_id, name, description}', () => {
  it('answers 201 with bot_id as the platform_bot_id', async () => {
    const platformId = snowflake();
    const answer = await service.anonymous.post('/bots/register', {
      bot_id: platformId,
      name: 'x',
      description: 'y',
    });
    expectSuccess(answer, 201, registeredBot({ platform_bot_id: platformId, name: 'x' }));
  });

  it('answers 409 bot_exists for a bot of either shape', async () => {
    const answer = await service.anonymous.post('/bots/register', { bot_id: bot.platformBotId, name: 'x' });
    expectFailure(answer, 409, 'conflict', { reason: 'bot_exists' });
  });

  it('takes bot_id as an unknown field beside platform_bot_id', async () => {
    const body = { platform_bot_id: snowflake(), bot_id: 'anything', name: 'x' };
    expectSuccess(await service.anonymous.post('/bots/register', body), 201, registeredBot(body));
  });

  it.each(BAD_SNOWFLAKES)('answers 400 naming platform_bot_id when bot_id is bad (%s)', async (_, value) => {
    expectFaults(
      await service.anonymous.post('/bots/register', { bot_id: value, name: 'x' }),
      'platform_bot_id',
    );
  });
});

describe('POST /api/v1/data/register {bot_id, categories}', () => {
  it('answers 201 with the categories: name is key and label, no fields', async () => {
    const declared = (key: string) =>
      category({
        key,
        label_de: key,
        label_en: key,
        fields: [],
        description: `About ${key}`,
        retention_days: 90,
        legal_basis: 'consent',
      });
    const answer = await declare('profile', 'settings');
    expectSuccess(answer, 201, { categories: [declared('profile'), declared('settings')] });
    const { categories } = answer.data;
    expectSuccess(await bot.get('/data/categories'), 200, { categories, pagination: pagination(1, 20, 2) });
  });

  it('answers 201 for the platform_bot_id as bot_id', async () => {
    const body = { bot_id: bot.platformBotId, categories: [guideCategory('profile')] };
    expect((await bot.post('/data/register', body)).status).toBe(201);
  });

  it('answers 201 for a name alone', async () => {
    const answer = await bot.post('/data/register', { bot_id: bot.id, categories: [{ name: 'profile' }] });
    expectSuccess(answer, 201, {
      categories: [category({ key: 'profile', label_de: 'profile', label_en: 'profile', fields: [] })],
    });
  });

  it('answers 409 category_exists when one of them exists, and declares none', async () => {
    await bot.hasCategory('settings');
    expectFailure(await declare('profile', 'settings'), 409, 'conflict', { reason: 'category_exists' });
    expectFailure(await bot.get('/data/categories/profile'), 404, 'not_found');
  });

  it('answers 409 when it names one category twice, and declares none', async () => {
    expect([400, 409]).toContain((await declare('profile', 'profile')).status);
    expectFailure(await bot.get('/data/categories/profile'), 404, 'not_found');
  });

  it('answers 400 naming every bad field by path', async () => {
    const categories = [guideCategory('good'), guideCategory('Bad', { retention_days: 0, legal_basis: 'x' })];
    const answer = await bot.post('/data/register', { bot_id: bot.id, categories });
    expectFaults(answer, 'categories[1].name', 'categories[1].retention_days', 'categories[1].legal_basis');
    expectFailure(await bot.get('/data/categories/good'), 404, 'not_found');
  });

  it.each([
    ['empty', []],
    ['a text', 'profile'],
    ['an object', {}],
  ])('answers 400 naming categories (%s)', async (_, categories) => {
    expectFaults(await bot.post('/data/register', { bot_id: bot.id, categories }), 'categories');
  });

  it('takes bot_id as an unknown field beside the canonical shape', async () => {
    const body = { bot_id: UNKNOWN_UUID, key: 'profile', label_de: 'a', label_en: 'b', fields: [field('x')] };
    expect((await bot.post('/data/register', body)).status).toBe(201);
  });
});

describe('POST /api/v1/consents/request {bot_id, user_id, categories, language}', () => {
  it('answers 201 with consent_id, categories and texts beside the fields of the table', async () => {
    await declare('profile', 'settings');
    const answer = await request(['profile', 'settings']);
    const { consent_id, texts } = answer.data;
    expectSuccess(answer, 201, {
      id: consent_id,
      status: 'pending',
      version: expect.stringMatching(/^[A-Za-z0-9._+:-]{1,64}$/) as unknown,
      requested_at: A_TIME,
      consent_id: AN_ID,
      categories: ['profile', 'settings'],
      texts,
    });
    expect(texts).toMatchObject({ title: A_TEXT, body: A_TEXT });
    expect(texts.categories).toHaveLength(2);
  });

  it('answers texts in German or English, English by default', async () => {
    await bot.hasCategory('profile', [field('x')], { label_de: 'Steckbrief', label_en: 'Bio sheet' });
    const texts = async (more: Json) => JSON.stringify((await request(['profile'], more)).data.texts);
    expect(await texts({})).toContain('Bio sheet');
    expect(await texts({ language: 'en' })).toBe(await texts({}));
    expect(await texts({ language: 'fr' })).toBe(await texts({}));
    expect(await texts({ language: 'de' })).toContain('Steckbrief');
    expect(await texts({ language: 'de' })).not.toContain('Bio sheet');
  });

  it.each(['DE', '', 1, {}])('answers 400 naming language when it is %j', async (language) => {
    await declare('profile');
    expectFaults(await request(['profile'], { language }), 'language');
  });

  it('answers the same version for the same declarations in any order, and another one after a change', async () => {
    await declare('a', 'b');
    const first = (await request(['a', 'b'])).data.version;
    expect((await request(['b', 'a'])).data.version).toBe(first);
    expect((await request(['a'])).data.version).not.toBe(first);
    await bot.put('/data/categories/a', { retention_days: 1 });
    expect((await request(['a', 'b'])).data.version).not.toBe(first);
  });

  it('is a request in the bot-wide scope, which the canonical shape sees too', async () => {
    await declare('profile');
    const { version } = (await request(['profile'])).data;
    const { data } = await bot.status(who());
    expect(data).toMatchObject(consentStatus(who(), { status: 'pending', version }));
  });

  it('answers 404 for a category that is not registered, and asks nothing', async () => {
    await declare('profile');
    expectFailure(await request(['profile', 'unknown']), 404, 'not_found');
    expect((await status()).data).toMatchObject({ status: 'none' });
  });

  it('answers the same request when it is repeated', async () => {
    await declare('profile');
    const first = await request(['profile']);
    expectSuccess(await request(['profile']), 201, first.data);
  });

  it('replaces a pending request, whose consent_id is then 404', async () => {
    await declare('a', 'b');
    const first = (await request(['a'])).data.consent_id;
    const second = (await request(['a', 'b'])).data.consent_id;
    expectFailure(await accept(first), 404, 'not_found');
    expect((await accept(second)).status).toBe(200);
  });

  it('answers the accepted consent when the same is asked for again', async () => {
    await granted('profile');
    expect((await request(['profile'])).data).toMatchObject({ status: 'accepted' });
  });

  it('leaves what was granted in force until the new request is accepted', async () => {
    await granted('a');
    await declare('b');
    const { consent_id } = (await request(['a', 'b'])).data;
    expect((await submit('a', { x: 1 })).status).toBe(200);
    expectFailure(await submit('b', { x: 1 }), 403, 'consent_required');
    expect(await statuses()).toMatchObject({ a: 'accepted' });
    await accept(consent_id);
    expect((await submit('b', { x: 1 })).status).toBe(200);
  });

  it('answers 400 naming categories when they are no list of names', async () => {
    for (const categories of [[], 'profile', {}, [1], [''], [null]])
      expect(
        (await bot.post('/consents/request', { bot_id: bot.id, user_id: user, categories })).status,
      ).toBe(400);
  });

  it.each(BAD_SNOWFLAKES)('answers 400 naming user_id (%s)', async (_, value) => {
    await declare('profile');
    expectFaults(await request(['profile'], { user_id: value }), 'user_id');
  });
});

describe('POST /api/v1/consents/accept {consent_id, categories?}', () => {
  it('answers 200 with the accepted record; without categories all that were asked for are granted', async () => {
    await declare('a', 'b');
    const { consent_id, version } = (await request(['a', 'b'])).data;
    expect((await accept(consent_id)).data).toMatchObject(
      consentRecord(who(), { id: consent_id, status: 'accepted', version }),
    );
    expect(await statuses()).toStrictEqual({ a: 'accepted', b: 'accepted' });
  });

  it('grants what is named alone', async () => {
    await declare('a', 'b');
    const { consent_id } = (await request(['a', 'b'])).data;
    expect((await accept(consent_id, { categories: ['a'] })).status).toBe(200);
    expect((await statuses())['a']).toBe('accepted');
    expect((await statuses())['b']).not.toBe('accepted');
    expect((await submit('a', { x: 1 })).status).toBe(200);
    expectFailure(await submit('b', { x: 1 }), 403, 'consent_required');
  });

  it('sets the granted set to what the newly accepted request names', async () => {
    await granted('a', 'b');
    await declare('c');
    await accept((await request(['b', 'c'])).data.consent_id, { categories: ['c'] });
    expectFailure(await submit('a', { x: 1 }), 403, 'consent_required');
    expectFailure(await submit('b', { x: 1 }), 403, 'consent_required');
    expect((await submit('c', { x: 1 })).status).toBe(200);
  });

  it('answers 404 for an unknown consent_id and for one of another bot', async () => {
    await declare('a');
    const { consent_id } = (await request(['a'])).data;
    const other = await service.registerBot();
    const theirs = await other.post('/consents/accept', { consent_id });
    expectFailure(theirs, 404, 'not_found');
    expectSameRefusal(theirs, await other.post('/consents/accept', { consent_id: UNKNOWN_UUID }));
    expect((await accept(consent_id)).status).toBe(200);
    expectSameRefusal(theirs, await other.post('/consents/accept', { consent_id }));
  });

  it('answers 200 a second time with the consent in force, and records nothing', async () => {
    await declare('a', 'b');
    const { consent_id } = (await request(['a', 'b'])).data;
    const first = await accept(consent_id, { categories: ['b'] });
    const { user_id, guild_id } = who();
    const left = async () => [
      await bot.eventTypes(who()),
      (await bot.get(`/consents/history?user_id=${user_id}&guild_id=${guild_id}`)).data,
    ];
    const before = await left();
    expectSuccess(await accept(consent_id, { categories: ['b', 'b'] }), 200, first.data);
    // What would grant something else is no repeat, and no request waits for it.
    for (const more of [{}, { categories: ['a'] }, { categories: ['a', 'b'] }])
      expectFailure(await accept(consent_id, more), 404, 'not_found', { current_status: 'accepted' });
    const elsewhere = { consent_id, user_id: snowflake() };
    expectFailure(await bot.post('/consents/accept', elsewhere), 404, 'not_found');
    expect(await left()).toStrictEqual(before);
    await request(['a']);
    expect((await accept(consent_id, { categories: ['b'] })).data).toMatchObject({ id: consent_id });
    await revoke();
    expectFailure(await accept(consent_id, { categories: ['b'] }), 404, 'not_found', {
      current_status: 'revoked',
    });
  });

  it('answers 404 for a category that is not registered, and accepts nothing', async () => {
    await declare('a');
    const { consent_id } = (await request(['a'])).data;
    expectFailure(await accept(consent_id, { categories: ['a', 'unknown'] }), 404, 'not_found');
    expect((await status()).data).toMatchObject({ status: 'pending' });
  });

  it.each(['x', 1, {}, '', true])('answers 400 naming consent_id when it is %j', async (consentId) => {
    expectFaults(await bot.post('/consents/accept', { consent_id: consentId }), 'consent_id');
  });

  it.each(['accept', 'decline'])('takes bot_id beside the consent_id of any guild (%s)', async (act) => {
    const inGuild = subject();
    const consent_id = await bot.hasRequest(inGuild);
    const path = `/consents/${act}`;
    expectFailure(await bot.post(path, { bot_id: UNKNOWN_UUID, consent_id }), 404, 'not_found');
    const elsewhere = { bot_id: bot.id, consent_id, user_id: snowflake() };
    expectFailure(await bot.post(path, elsewhere), 404, 'not_found');
    expectSuccess(
      await bot.status(inGuild),
      200,
      consentStatus(inGuild, { status: 'pending', version: '1.0' }),
    );
    const { data } = await bot.post(path, { bot_id: bot.id, consent_id });
    expect(data).toMatchObject({ ...inGuild, status: act === 'accept' ? 'accepted' : 'none' });
  });

  it('takes consent_id in the canonical shape too, where it must agree with the rest', async () => {
    await declare('a');
    const { consent_id, version } = (await request(['a'])).data;
    const body = { ...who(), consent_version: version, consent_id };
    for (const other of [{ user_id: snowflake() }, { guild_id: snowflake() }, { consent_version: 'other' }])
      expectFailure(await bot.post('/consents/accept', { ...body, ...other }), 404, 'not_found');
    expect((await status()).data).toMatchObject({ status: 'pending' });
    expect((await bot.post('/consents/accept', body)).status).toBe(200);
  });
});

describe('POST /api/v1/consents/revoke {bot_id, user_id, categories?}', () => {
  it('answers 200 revoked without categories', async () => {
    await granted('a', 'b');
    expect((await revoke()).data).toMatchObject({ status: 'revoked', ...who(), revoked_at: A_TIME });
    expect((await status()).data).toMatchObject({ status: 'revoked' });
    expectFailure(await submit('a', { x: 1 }), 403, 'consent_required');
  });

  it('withdraws one category and leaves the others', async () => {
    await granted('a', 'b');
    expect((await revoke({ categories: ['a'] })).data).toMatchObject({ status: 'accepted' });
    expect(await statuses()).toStrictEqual({ a: 'revoked', b: 'accepted' });
    expectFailure(await submit('a', { x: 1 }), 403, 'consent_required');
    expect((await submit('b', { x: 1 })).status).toBe(200);
  });

  it('revokes the consent with its last category', async () => {
    await granted('a', 'b');
    await revoke({ categories: ['a'] });
    expect((await revoke({ categories: ['b'] })).data).toMatchObject({ status: 'revoked' });
    expect((await status()).data).toMatchObject({ status: 'revoked' });
  });

  it('answers 404 for a category that is not registered, and withdraws nothing', async () => {
    await granted('a');
    expectFailure(await revoke({ categories: ['a', 'unknown'] }), 404, 'not_found');
    expect((await status()).data).toMatchObject({ status: 'accepted' });
  });

  it('answers 404 without a consent', async () => {
    expectFailure(await revoke(), 404, 'not_found');
  });
});

describe('GET /api/v1/consents/status?bot_id&user_id', () => {
  it('answers 200 none with no categories when nothing was ever asked', async () => {
    expectSuccess(await status(), 200, consentStatus(who(), { categories: [] }));
  });

  it('answers 200 with the state of every category', async () => {
    await declare('a', 'b');
    const { consent_id, version } = (await request(['a', 'b'])).data;
    expect(await statuses()).toStrictEqual({ a: 'pending', b: 'pending' });
    await accept(consent_id);
    expectSuccess(
      await status(),
      200,
      consentStatus(who(), {
        status: 'accepted',
        version,
        accepted_at: A_TIME,
        categories: [
          { key: 'a', status: 'accepted' },
          { key: 'b', status: 'accepted' },
        ],
      }),
    );
  });

  it('answers 400 naming user_id when it is missing', async () => {
    expectFaults(await bot.get(`/consents/status?bot_id=${bot.id}`), 'user_id');
  });

  it('takes bot_id as an unknown parameter beside guild_id', async () => {
    const query = `bot_id=${UNKNOWN_UUID}&user_id=${user}&guild_id=${snowflake()}`;
    expect((await bot.get(`/consents/status?${query}`)).status).toBe(200);
  });
});

describe('POST /api/v1/data/submit {bot_id, user_id, category, data}', () => {
  it('answers 200; a category without fields takes any object', async () => {
    await granted('a');
    const data = { text: 'x', 'Any Key': [1, { deep: null }], '': 0, 名: true };
    expectSuccess(await submit('a', data), 200, submitted(who(), 'a'));
    expect((await bot.export(who())).data).toMatchObject({ data: { a: data } });
  });

  it('answers 403 consent_required for a category that was not granted', async () => {
    await granted('a');
    await declare('b');
    expectFailure(await submit('b', { x: 1 }), 403, 'consent_required');
  });

  it('answers 403 consent_required before anything was granted', async () => {
    await declare('a');
    expectFailure(await submit('a', { x: 1 }), 403, 'consent_required');
    await request(['a']);
    expectFailure(await submit('a', { x: 1 }), 403, 'consent_required');
  });

  it('answers 404 for a category that is not registered', async () => {
    await granted('a');
    expectFailure(await submit('unknown', { x: 1 }), 404, 'not_found');
  });

  it('answers 400 for data that is no object', async () => {
    await granted('a');
    expectFaults(await submit('a', 'x'), 'data');
  });

  it('is erased with the bot-wide scope', async () => {
    await granted('a');
    await submit('a', { x: 1 });
    expect((await bot.post('/gdpr/forget-user', who())).data).toMatchObject({ deleted_categories: ['a'] });
    expect((await status()).data).toMatchObject({ status: 'none', categories: [] });
  });
});

describe("the bot_id of the guide's shapes", () => {
  const calls: readonly [string, (caller: Client, botId: unknown) => ReturnType<Client['post']>][] = [
    [
      'POST /data/register',
      (caller, bot_id) => caller.post('/data/register', { bot_id, categories: [guideCategory('z')] }),
    ],
    [
      'POST /consents/request',
      (caller, bot_id) => caller.post('/consents/request', { bot_id, user_id: user, categories: ['a'] }),
    ],
    ['POST /consents/revoke', (caller, bot_id) => caller.post('/consents/revoke', { bot_id, user_id: user })],
    [
      'POST /data/submit',
      (caller, bot_id) => caller.post('/data/submit', { bot_id, user_id: user, category: 'a', data: {} }),
    ],
  ];

  it.each(calls)(
    'is answered 404 by %s for another bot and for none, word for word the same',
    async (_, call) => {
      const other = await service.registerBot();
      const theirs = await call(bot, other.id);
      expectFailure(theirs, 404, 'not_found');
      expectSameRefusal(theirs, await call(bot, UNKNOWN_UUID));
      expectSameRefusal(theirs, await call(bot, other.platformBotId));
    },
  );

  it('is answered 404 by GET /consents/status for another bot and for none', async () => {
    const other = await service.registerBot();
    const theirs = await bot.get(`/consents/status?bot_id=${other.id}&user_id=${user}`);
    expectFailure(theirs, 404, 'not_found');
    expectSameRefusal(theirs, await bot.get(`/consents/status?bot_id=${UNKNOWN_UUID}&user_id=${user}`));
  });

  it.each(calls)('is answered 400 by %s when it is no text', async (_, call) => {
    for (const botId of [1, true, [], {}]) expect((await call(bot, botId)).status).toBe(400);
  });

  it.each([
    ...calls.map(([name]) => name),
    'GET /consents/status',
    'GET /consents/history',
    'GET /consents/receipt',
  ])('is declared with the 404 for the id of another bot: %s', (name) => {
    const [method = '', path = ''] = name.toLowerCase().split(' ');
    const declared = document.paths as unknown as Record<string, Record<string, { responses: object }>>;
    expect(declared[PREFIX + path]?.[method]?.responses).toHaveProperty('404');
  });

  it.each(calls)('is answered 401 by %s without a key', async (_, call) => {
    expectFailure(await call(service.anonymous, bot.id), 401, 'unauthorized');
  });
});

describe('categories, language and consent_id in the canonical shape', () => {
  it("are taken with a guild and a version of the caller's own", async () => {
    const canonical = { user_id: user, guild_id: snowflake() };
    await declare('a', 'b');
    const body = { ...canonical, consent_version: '2.0', categories: ['a', 'b'], language: 'de' };
    const answer = await bot.post<Requested>('/consents/request', body);
    expect(answer.data).toMatchObject({ version: '2.0', status: 'pending', categories: ['a', 'b'] });
    await bot.post('/consents/accept', { ...canonical, consent_version: '2.0', categories: ['a'] });
    expect((await bot.status(canonical)).data).toMatchObject({ status: 'accepted', version: '2.0' });
    expect((await bot.post('/data/submit', { ...canonical, category: 'a', data: {} })).status).toBe(200);
    const refused = await bot.post('/data/submit', { ...canonical, category: 'b', data: {} });
    expectFailure(refused, 403, 'consent_required');
  });

  it('are left out of the answers where they were left out of the request', async () => {
    const canonical = { user_id: user, guild_id: snowflake() };
    const answer = await bot.post('/consents/request', { ...canonical, consent_version: '1' });
    expect(Object.keys(answer.data).sort()).toStrictEqual(['id', 'requested_at', 'status', 'version']);
    await bot.post('/consents/accept', { ...canonical, consent_version: '1' });
    expect((await bot.status(canonical)).data).not.toHaveProperty('categories');
  });
});
