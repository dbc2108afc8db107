import { BotAdministration, KeyUses } from '@app/bots';
import { Clock } from '@app/kernel';
import { ALL_SCOPES, createdKey, type Key, keysOf, later, type Listed } from '../support/api-keys';
import type { Bot } from '../support/bot';
import { type Answer, Client, type Json } from '../support/client';
import {
  A_TIME,
  AN_ID,
  botView,
  expectFailure,
  expectFaults,
  expectSuccess,
  pagination,
} from '../support/expected';
import { heldCall } from '../support/held-body';
import { useServiceInProcess } from '../support/service';
import { subject } from '../support/snowflakes';
import { steps, stopWindows } from '../support/time';

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 86_400_000;

const service = useServiceInProcess();
let bot: Bot;
beforeEach(async () => {
  bot = await service.registerBot();
});
afterEach(() => jest.restoreAllMocks());

const make = (given: Json = {}, caller: Client = bot) => caller.post<Key>(keysOf(bot), given);
const withKey = ({ data }: Answer<Key>) => new Client(service.url, data.api_key);
const list = async () => (await bot.get<Listed>(keysOf(bot))).data.keys;

/** Moves the time that the service acts by, from now on. */
function passes(ms: number): void {
  const clock = service.app.get(Clock);
  const nowMs = clock.nowMs.bind(clock);
  jest.spyOn(clock, 'nowMs').mockImplementation(() => nowMs() + ms);
}

describe('POST /api/v1/bots/{bot_id}/keys', () => {
  it('answers 201 with a key of all scopes that lasts, shown once', async () => {
    const answer = await make();
    expectSuccess(answer, 201, createdKey());
    expect(answer.data.api_key.startsWith(answer.data.api_key_prefix)).toBe(true);
    expectSuccess(await withKey(answer).get(`/bots/${bot.id}`), 200, {
      ...botView(bot),
      api_key_prefix: answer.data.api_key_prefix,
    });
    expect((await bot.get(keysOf(bot))).text).not.toContain(answer.data.api_key);
  });

  it('keeps the scopes and the expiry that are given', async () => {
    const at = later(YEAR_MS);
    const given = { scopes: ['admin', 'read'], expires_at: at };
    expectSuccess(await make(given), 201, createdKey({ scopes: ['read', 'admin'], expires_at: at }));
    expectSuccess(
      await make({ expires_at: '2999-01-31T08:00:00.5+01:00', scopes: null }),
      201,
      createdKey({ expires_at: '2999-01-31T07:00:00.500Z' }),
    );
  });

  it.each([[[]], [['read', 'read']], [['root']], ['read'], [[1]], [{}]])(
    'answers 400 to the scopes %j',
    async (scopes) => expectFaults(await make({ scopes }), 'scopes'),
  );

  it.each([
    ...['2020-01-01T00:00:00Z', '2999-01-01', '2999-02-30T00:00:00Z', '2999-01-01T00:00:00', 'soon'],
    ...['2999-01-01T24:00:00Z', '9999-12-31T23:59:59-01:00', 32_503_680_000, ''],
  ])('answers 400 to the expiry %j', async (at) =>
    expectFaults(await make({ expires_at: at }), 'expires_at'),
  );

  it('keeps the name that is given, as text; a key without one is answered without a name', async () => {
    const names = ['Worker', `"><img src=x onerror=alert(1)>`, 'ä'.repeat(60)];
    for (const name of names) expectSuccess(await make({ name }), 201, { ...createdKey(), name });
    expect((await list()).map(({ name }) => name)).toStrictEqual([...names.toReversed(), undefined]);
    expectSuccess(await make({ name: null }), 201, createdKey());
  });

  it.each([[''], [' '], ['\u200b'], ['a'.repeat(61)], [7], [['Worker']], [{}]])(
    'answers 400 to the name %j',
    async (name) => expectFaults(await make({ name }), 'name'),
  );

  it('grants no scope that the calling key lacks: 403 insufficient_scope', async () => {
    const caller = withKey(await make({ scopes: ['read', 'admin'] }));
    for (const given of [{ scopes: ['read', 'write'] }, {}])
      expectFailure(await make(given, caller), 403, 'insufficient_scope', { required: 'write' });
    expect((await make({ scopes: ['admin'] }, caller)).status).toBe(201);
  });

  it('answers 409 limit_reached to the sixth valid key, also of several at once; expired ones do not count', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => make({ expires_at: later(HOUR_MS) })));
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(2);
    for (const answer of refused)
      expectFailure(answer, 409, 'conflict', { reason: 'limit_reached', limit: 5 });
    passes(HOUR_MS);
    expect((await make()).status).toBe(201);
    expect(await service.database.rows(`SELECT 1 FROM api_keys WHERE bot_id = '${bot.id}'`)).toHaveLength(2);
  });

  it('counts no key that has expired by a clock that was set forward, and removes none', async () => {
    for (let made = 1; made < 4; made++) expect((await make()).status).toBe(201);
    expect((await make({ expires_at: later(HOUR_MS) })).status).toBe(201);
    steps(service, 2 * HOUR_MS);
    expect(await list()).toHaveLength(4);
    expect((await make()).status).toBe(201);
    expectFailure(await make(), 409, 'conflict', { reason: 'limit_reached', limit: 5 });
    expect(await service.database.rows(`SELECT 1 FROM api_keys WHERE bot_id = '${bot.id}'`)).toHaveLength(6);
  });
});

describe('GET /api/v1/bots/{bot_id}/keys', () => {
  it('lists the valid keys, newest first, without the keys themselves', async () => {
    const { data } = await make({ scopes: ['write'], expires_at: later(HOUR_MS) });
    const view = (given: Json) => ({
      ...{ id: AN_ID, scopes: ALL_SCOPES, expires_at: null, last_used_at: null, created_at: A_TIME },
      ...given,
    });
    const { id, api_key_prefix, expires_at } = data;
    const first = view({ api_key_prefix: bot.key.slice(0, 16), last_used_at: A_TIME });
    expectSuccess(await bot.get(keysOf(bot)), 200, {
      keys: [view({ id, api_key_prefix, expires_at, scopes: ['write'] }), first],
      pagination: pagination(1, 20, 2),
    });
    passes(HOUR_MS);
    expectSuccess(await bot.get(`${keysOf(bot)}?page_size=1`), 200, {
      keys: [first],
      pagination: pagination(1, 1, 1),
    });
  });

  it('shows the last use of each key, from memory and as it was written', async () => {
    const made = await make({ scopes: ['read'] });
    const used = async () => (await list()).find(({ id }) => id === made.data.id)?.last_used_at;
    expect(await used()).toBeNull();
    const from = new Date(service.app.get(Clock).nowMs() - 1).toISOString();
    await withKey(made).get('/servers');
    const at = await used();
    expect(String(at) >= from).toBe(true);
    const uses = service.app.get(KeyUses);
    await uses.write();
    const stored = async () =>
      (
        await service.database.rows<{ last_used_at: string }>(
          `SELECT last_used_at FROM api_keys WHERE id = '${made.data.id}'`,
        )
      )[0]?.last_used_at;
    const first = await stored();
    expect(String(first) >= from).toBe(true);
    // Within a minute it is not written again.
    await withKey(made).get('/servers');
    await uses.write();
    expect(await stored()).toBe(first);
    // Another process has seen a later use.
    const later = new Date(service.app.get(Clock).nowMs() + HOUR_MS).toISOString();
    await service.database.run(
      'UPDATE api_keys SET last_used_at = ? WHERE id = ?',
      later,
      String(made.data.id),
    );
    expect(await used()).toBe(later);
  });
});

describe('the keys of a bot', () => {
  it('share one rate bucket', async () => {
    stopWindows(service);
    const other = withKey(await make());
    const remaining = async (caller: Client) =>
      Number((await caller.get('/servers')).header('x-ratelimit-remaining'));
    const first = await remaining(bot);
    expect([await remaining(other), await remaining(bot)]).toEqual([first - 1, first - 2]);
  });

  it('are all void after bots:new-key, and the new one has all scopes and lasts', async () => {
    const other = withKey(await make());
    const { key } = await service.app.get(BotAdministration, { strict: false }).newKey(bot.id);
    for (const caller of [bot, other]) expectFailure(await caller.get('/bots/me'), 401, 'unauthorized');
    const renewed = new Client(service.url, key);
    expectSuccess(await renewed.get(keysOf(bot)), 200, {
      keys: [expect.objectContaining({ scopes: ALL_SCOPES, expires_at: null })],
      pagination: pagination(1, 20, 1),
    });
  });

  it('make no further key once they are void, whatever a request in progress has read before', async () => {
    const { database } = service;
    // Another process has voided it, and this one still trusts it.
    await bot.get('/bots/me');
    await database.run(`DELETE FROM api_keys WHERE bot_id = '${bot.id}'`);
    expectFailure(await make(), 401, 'unauthorized');
    expect(await database.rows(`SELECT 1 FROM api_keys WHERE bot_id = '${bot.id}'`)).toEqual([]);
  });

  it.each([
    ['deleted', (id: string) => bot.delete(`${keysOf(bot)}/${id}`)],
    ['replaced by bots:new-key', () => service.app.get(BotAdministration, { strict: false }).newKey(bot.id)],
    ['expired', () => passes(HOUR_MS)],
  ])('are refused with a request whose body comes once they are %s', async (_, ended) => {
    const { data } = await make({ expires_at: later(HOUR_MS) });
    const calls = [
      await heldCall(service, data.api_key, '/gdpr/forget-user', subject()),
      await heldCall(service, data.api_key, `/bots/${bot.id}/webhook-secret/rotate`, { overlap_seconds: 0 }),
    ];
    const secrets = () => service.database.rows('SELECT webhook_secret FROM bots WHERE id = ?', bot.id);
    const before = await secrets();
    await ended(data.id);
    const answers = await Promise.all(calls.map((call) => call()));
    for (const answer of answers) expectFailure(answer, 401, 'unauthorized');
    expect(await service.database.rows('SELECT 1 FROM deletion_requests WHERE bot_id = ?', bot.id)).toEqual(
      [],
    );
    expect(await secrets()).toEqual(before);
  });

  it('do what was asked with a body that comes after the deletion of another key', async () => {
    const other = await make();
    const call = await heldCall(service, bot.key, '/servers/register', { guild_id: subject().guild_id });
    expect((await bot.delete(`${keysOf(bot)}/${other.data.id}`)).status).toBe(200);
    expect((await call()).status).toBe(201);
  });

  it('expire on connections that have used them', async () => {
    const caller = withKey(await make({ expires_at: later(HOUR_MS) }));
    expect((await caller.get('/bots/me')).status).toBe(200);
    passes(HOUR_MS);
    expectFailure(await caller.get('/bots/me'), 401, 'unauthorized');
  });
});

describe('GET /api/v1/bots/me', () => {
  it('answers the bot of the key', async () => {
    expectSuccess(await bot.get('/bots/me'), 200, botView(bot));
  });
});
