import { UnitOfWork } from '@app/database';
import type { Bot } from '../support/bot';
import { Client, type Json } from '../support/client';
import {
  A_TIME,
  botView,
  expectFailure,
  expectFaults,
  expectSameRefusal,
  expectSuccess,
  registeredBot,
} from '../support/expected';
import {
  ABSENT,
  BAD_SNOWFLAKES,
  BAD_UUIDS,
  badTexts,
  type Case,
  GOOD_SNOWFLAKES,
  goodTexts,
  itRefuses,
  itTakes,
  UNKNOWN_UUID,
} from '../support/inputs';
import { withoutJobs } from '../support/jobs';
import { useServiceInProcess } from '../support/service';
import { snowflake, subject } from '../support/snowflakes';

const service = useServiceInProcess();

const BAD_EMAILS: readonly Case[] = [
  ['without an @', 'privacy.example.org'],
  ['without a domain', 'privacy@'],
  ['without a top-level domain', 'a@b'],
  ['of 400 characters', `${'a'.repeat(390)}@example.org`],
  ['in a domain that ends in digits', 'a@192.0.2.1'],
  ['with an empty part of its domain', 'a@b..c'],
  ['with a line break between quotes', '"a\r\nb"@example.org'],
  ['with a blank between quotes', '"a b"@example.org'],
  ['followed by a line break', 'privacy@example.org\n'],
  ['a header injection', 'privacy@example.org\r\nBcc: all@example.org'],
  ['a list', 'a@example.org,b@example.org'],
  ['empty', ''],
  ['a number', 1],
  ['an object', {}],
];

const GOOD_EMAILS: readonly Case[] = [
  ['of the shortest parts', 'a@b.c'],
  ['with a tag', 'privacy+lethe@mail.example.org'],
  ['of another script', 'büro@bücher.example'],
  ['with quotes', '"a@b"@example.org'],
];

const BAD_URLS: readonly Case[] = [
  ['without a scheme', 'example.org/hook'],
  ['relative', '/hook'],
  ['without slashes', 'https:example.org'],
  ['a file', 'file:///etc/passwd'],
  ['ftp', 'ftp://example.org/hook'],
  ['gopher', 'gopher://example.org/'],
  ['a script', 'javascript:alert(1)'],
  ['inline data', 'data:text/plain,x'],
  ['a web socket', 'ws://example.org/'],
  ['with a user name', 'https://user@example.org/hook'],
  ['with a password', 'https://user:pass@example.org/hook'],
  ['of 2049 characters', `https://example.org/${'a'.repeat(2029)}`],
  ['without a host', 'https://'],
  ['with a blank', 'https://example.org/a b'],
  ['behind a blank', ' https://example.org/hook'],
  ['followed by a line break', 'https://example.org/hook\n'],
  ['with a tab', 'https://example.org/ho\tok'],
  ['with a NUL', 'https://example.org/\0'],
  ['with a no-break space', 'https://example.org/a\u00a0b'],
  ['with a lone surrogate', 'https://example.org/\ud800'],
  ['with backslashes', 'https:\\\\example.org\\hook'],
  ['with a backslash in its path', 'https://example.org/a\\b'],
  ...[...'<>"^{|}`'].map((sign): Case => [`with ${sign}`, `https://example.org/hook?a=${sign}`]),
  ['empty', ''],
  ['a number', 1],
  ['an array', ['https://example.org/']],
];

const GOOD_URLS: readonly Case[] = [
  ['https', 'https://example.org/hook?bot=1'],
  ['an internationalised name', 'https://bücher.example/hook'],
  ['percent-encoded', 'https://example.org/a%20b?c=%7B%22d%22%7D'],
  ['with the signs of a URI', "https://example.org:8443/a-._~!$&'()*+,;=:@/?b[]=/?"],
  ['of 2048 characters', `https://example.org/${'a'.repeat(2028)}`],
];

describe('POST /api/v1/bots/register', () => {
  const valid = (): Json => ({ platform_bot_id: snowflake(), name: 'Reminder' });
  const register = (body: unknown) => service.anonymous.post('/bots/register', body);

  it('answers 201 with id, key and secret to a caller without a credential', async () => {
    const body = valid();
    expectSuccess(await register(body), 201, registeredBot(body));
  });

  it('answers a key that works at once', async () => {
    const bot = await service.registerBot();
    expectSuccess(await bot.get(`/bots/${bot.id}`), 200, botView(bot));
  });

  it('answers a prefix that is the beginning of the key', async () => {
    const { api_key, api_key_prefix } = (await register(valid())).data as Record<string, string>;
    expect(api_key?.slice(0, 16)).toBe(api_key_prefix);
  });

  it('answers a different key and secret to every bot', async () => {
    const bots = await Promise.all(Array.from({ length: 10 }, () => service.registerBot()));
    expect(new Set(bots.flatMap((bot) => [bot.key, bot.webhookSecret, bot.id])).size).toBe(30);
  });

  it('stores neither the key nor its secret part in readable form', async () => {
    const bot = await service.registerBot();
    const dump = JSON.stringify(await service.database.rows('SELECT * FROM api_keys'));
    expect(dump).toContain(bot.id);
    expect(dump).not.toContain(bot.key);
    expect(dump).not.toContain(bot.key.slice(16));
  });

  it('keeps contact and webhook address', async () => {
    const given = { privacy_contact: 'privacy@example.org', webhook_url: 'https://example.org/hook' };
    const bot = await service.registerBot(given);
    expectSuccess(await bot.get(`/bots/${bot.id}`), 200, botView(bot, given));
  });

  it('answers 409 conflict bot_exists to a second registration of a platform_bot_id', async () => {
    const body = valid();
    await register(body);
    expectFailure(await register({ ...body, name: 'Other' }), 409, 'conflict', { reason: 'bot_exists' });
  });

  it('changes nothing when it answers 409', async () => {
    const bot = await service.registerBot();
    await register({
      platform_bot_id: bot.platformBotId,
      name: 'Thief',
      webhook_url: 'https://thief.example/',
    });
    expectSuccess(await bot.get(`/bots/${bot.id}`), 200, botView(bot));
  });

  it('ignores fields that are the service to set', async () => {
    const body = {
      ...valid(),
      id: UNKNOWN_UUID,
      api_key: 'sk_live_mine',
      tier: 'high',
      is_admin: true,
      created_at: '2000-01-01T00:00:00.000Z',
    };
    const answer = await register(body);
    expectSuccess(answer, 201, registeredBot(body));
    const { id, api_key } = answer.data as Record<string, string>;
    expect(id).not.toBe(UNKNOWN_UUID);
    const view = (await new Client(service.url, api_key).get(`/bots/${id}`)).data;
    expect(view['created_at']).not.toBe(body.created_at);
  });

  it('names every bad field at once', async () => {
    const answer = await register({ platform_bot_id: 1, name: '', privacy_contact: 'x', webhook_url: 'x' });
    expectFaults(answer, 'platform_bot_id', 'name', 'privacy_contact', 'webhook_url');
  });

  it('names a target that is never called beside the other bad fields, as a change of the bot does', async () => {
    const webhook_url = 'http://169.254.169.254/';
    expectFaults(
      await register({ platform_bot_id: '1', name: 'x', webhook_url }),
      'platform_bot_id',
      'webhook_url',
    );
    const bot = await service.registerBot();
    expectFaults(await bot.put(`/bots/${bot.id}`, { name: '', webhook_url }), 'name', 'webhook_url');
  });

  it('shows a caller that sends a number how to send an id', async () => {
    const answer = await register({ ...valid(), platform_bot_id: 123456789012345680 });
    expect(answer.error.message).toContain('string');
  });

  itRefuses('platform_bot_id', BAD_SNOWFLAKES, register, valid);
  itTakes('platform_bot_id', GOOD_SNOWFLAKES, register, valid, 201);
  itRefuses('name', [...ABSENT, ...badTexts(100)], register, valid);
  itTakes('name', goodTexts(100), register, valid, 201);
  itRefuses('privacy_contact', BAD_EMAILS, register, valid);
  itTakes('privacy_contact', [...ABSENT, ...GOOD_EMAILS], register, valid, 201);
  itRefuses('webhook_url', BAD_URLS, register, valid);
  itTakes('webhook_url', [...ABSENT, ...GOOD_URLS], register, valid, 201);
});

describe('GET /api/v1/bots/{bot_id}', () => {
  let bot: Bot;
  beforeAll(async () => {
    bot = await service.registerBot();
  });

  it('answers 200 with the authenticated bot and neither key nor secret', async () => {
    const answer = await bot.get(`/bots/${bot.id}`);
    expectSuccess(answer, 200, botView(bot));
    expect(answer.text).not.toContain(bot.key);
    expect(answer.text).not.toContain(bot.webhookSecret);
  });

  it('answers 200 to the id in upper case, which is the same UUID', async () => {
    expect((await bot.get(`/bots/${bot.id.toUpperCase()}`)).status).toBe(200);
  });

  it('answers 401 without a key', async () => {
    expectFailure(await service.anonymous.get(`/bots/${bot.id}`), 401, 'unauthorized');
  });

  it('answers 404 for an id that no bot has', async () => {
    expectFailure(await bot.get(`/bots/${UNKNOWN_UUID}`), 404, 'not_found');
  });

  it('answers the identical 404 for the id of another bot', async () => {
    const other = await service.registerBot();
    expectSameRefusal(await bot.get(`/bots/${other.id}`), await bot.get(`/bots/${UNKNOWN_UUID}`));
  });

  it.each(BAD_UUIDS)('answers 400 or 404 when bot_id is %s', async (_, id) => {
    const answer = await bot.get(`/bots/${String(id)}`);
    expect([400, 404]).toContain(answer.status);
  });

  it('answers 400 naming bot_id when it is no UUID', async () => {
    expectFaults(await bot.get('/bots/1'), 'bot_id');
  });
});

describe('PUT /api/v1/bots/{bot_id}', () => {
  let bot: Bot;
  beforeEach(async () => {
    bot = await service.registerBot({
      privacy_contact: 'a@example.org',
      webhook_url: 'https://a.example/hook',
    });
  });
  const unchanged = () =>
    botView(bot, { privacy_contact: 'a@example.org', webhook_url: 'https://a.example/hook' });
  const change = (body: unknown) => bot.put(`/bots/${bot.id}`, body);

  it('answers 200 with what GET answers after the change', async () => {
    const given = {
      name: 'New name',
      privacy_contact: 'b@example.org',
      webhook_url: 'https://b.example/hook',
    };
    const answer = await change(given);
    expectSuccess(answer, 200, botView(bot, given));
    expect((await bot.get(`/bots/${bot.id}`)).data).toStrictEqual(answer.data);
  });

  it.each([
    ['name', 'Only the name'],
    ['privacy_contact', 'only@example.org'],
    ['webhook_url', 'https://only.example/'],
  ])('changes %s alone', async (name, value) => {
    expectSuccess(await change({ [name]: value }), 200, { ...unchanged(), [name]: value });
  });

  it.each(['privacy_contact', 'webhook_url'])('clears %s with null', async (name) => {
    expectSuccess(await change({ [name]: null }), 200, { ...unchanged(), [name]: null });
  });

  it('takes null for name as absent', async () => {
    expectSuccess(await change({ name: null }), 200, unchanged());
  });

  it('changes nothing with an empty object', async () => {
    const before = (await bot.get(`/bots/${bot.id}`)).data;
    expectSuccess(await change({}), 200, before);
  });

  it('moves updated_at and leaves created_at', async () => {
    const before = (await bot.get(`/bots/${bot.id}`)).data as Record<string, string>;
    const after = (await change({ name: 'Later' })).data as Record<string, string>;
    expect(after['created_at']).toBe(before['created_at']);
    expect(after['updated_at']).toStrictEqual(A_TIME);
    expect(Date.parse(after['updated_at'] ?? '')).toBeGreaterThanOrEqual(
      Date.parse(before['updated_at'] ?? ''),
    );
  });

  it('ignores fields that are not the caller to change', async () => {
    const given = {
      id: UNKNOWN_UUID,
      platform_bot_id: snowflake(),
      api_key: 'x',
      created_at: 'x',
      tier: 'high',
    };
    expectSuccess(await change(given), 200, unchanged());
  });

  it('changes nothing when one of several fields is bad', async () => {
    expectFaults(await change({ name: 'Good', webhook_url: 'bad' }), 'webhook_url');
    expectSuccess(await bot.get(`/bots/${bot.id}`), 200, unchanged());
  });

  it('answers 401 without a key', async () => {
    expectFailure(await service.anonymous.put(`/bots/${bot.id}`, { name: 'x' }), 401, 'unauthorized');
  });

  it('answers the identical 404 for another bot and for none, and leaves the other unchanged', async () => {
    const other = await service.registerBot();
    const refused = await bot.put(`/bots/${other.id}`, { name: 'Mine' });
    expectFailure(refused, 404, 'not_found');
    expectSameRefusal(refused, await bot.put(`/bots/${UNKNOWN_UUID}`, { name: 'Mine' }));
    expectSuccess(await other.get(`/bots/${other.id}`), 200, botView(other));
  });

  it('answers 400 naming bot_id when it is no UUID', async () => {
    expectFaults(await bot.put('/bots/1', { name: 'x' }), 'bot_id');
  });

  itRefuses('name', badTexts(100), change, () => ({}));
  itTakes('name', goodTexts(100), change, () => ({}), 200);
  itRefuses('privacy_contact', BAD_EMAILS, change, () => ({}));
  itRefuses('webhook_url', BAD_URLS, change, () => ({}));
  itTakes('webhook_url', GOOD_URLS, change, () => ({}), 200);
});

describe('DELETE /api/v1/bots/{bot_id}', () => {
  it('answers 200 and the key is void at once', async () => {
    const bot = await service.registerBot();
    expectSuccess(await bot.delete(`/bots/${bot.id}`), 200, {
      id: bot.id,
      deleted: true,
      deleted_at: A_TIME,
    });
    expectFailure(await bot.get(`/bots/${bot.id}`), 401, 'unauthorized');
    expectFailure(await bot.delete(`/bots/${bot.id}`), 401, 'unauthorized');
  });

  it('leaves no row of the bot in any table but the ledger of erasures, which holds digests', async () => {
    const bot = await service.registerBot();
    const who = subject();
    await bot.post('/servers/register', { guild_id: who.guild_id });
    await bot.hasCategory('profile');
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'x' });
    await bot.hasForgotten(who);
    await bot.hasRequest(who);
    await bot.delete(`/bots/${bot.id}`);
    const holding: string[] = [];
    for (const { name } of await service.database.tables()) {
      const rows = await service.database.rows(`SELECT * FROM ${name}`);
      const text = JSON.stringify(rows);
      expect(text).not.toContain(who.user_id);
      if (text.includes(bot.id)) holding.push(name);
    }
    expect(holding).toStrictEqual(['keys.erasure_ledger']);
  });

  it('leaves no key that was made while the rows were deleted', async () => {
    await withoutJobs(service);
    const bot = await service.registerBot();
    const unitOfWork = service.app.get(UnitOfWork);
    const write = unitOfWork.write.bind(unitOfWork);
    const stored = service.stored(bot, subject());
    let units = 0;
    jest.spyOn(unitOfWork, 'write').mockImplementation(async (work) => {
      // After the unit that voids the bot and the unit that finds none of its keys.
      if (++units === 3) {
        await service.database.run(
          `INSERT INTO subjects (bot_id, guild_id, user_id, key_id) VALUES (?, ?, ?, 'late')`,
          ...[bot.id, stored.guild_id, stored.user_id],
        );
        await service.database.run(`INSERT INTO keys.subject_keys (id, sealed) VALUES ('late', 's')`);
      }
      return write(work);
    });
    await bot.delete(`/bots/${bot.id}`);
    jest.restoreAllMocks();
    expect(units).toBeGreaterThan(4);
    expect(await service.database.rows(`SELECT 1 FROM subjects WHERE key_id = 'late'`)).toStrictEqual([]);
    expect(await service.database.rows(`SELECT 1 FROM keys.subject_keys WHERE id = 'late'`)).toStrictEqual(
      [],
    );
  });

  it('frees the platform_bot_id for a new registration, which starts empty', async () => {
    const bot = await service.registerBot();
    await bot.hasCategory('profile');
    await bot.delete(`/bots/${bot.id}`);
    const again = await service.registerBot({ platform_bot_id: bot.platformBotId });
    expect(again.id).not.toBe(bot.id);
    expect((await again.get('/data/categories')).data).toMatchObject({ categories: [] });
  });

  it('leaves every other bot as it is', async () => {
    const bot = await service.registerBot();
    const other = await service.registerBot();
    await bot.delete(`/bots/${bot.id}`);
    expectSuccess(await other.get(`/bots/${other.id}`), 200, botView(other));
  });

  it('answers 401 without a key', async () => {
    const bot = await service.registerBot();
    expectFailure(await service.anonymous.delete(`/bots/${bot.id}`), 401, 'unauthorized');
    expect((await bot.get(`/bots/${bot.id}`)).status).toBe(200);
  });

  it('answers the identical 404 for another bot and for none, and leaves the other', async () => {
    const bot = await service.registerBot();
    const other = await service.registerBot();
    const refused = await bot.delete(`/bots/${other.id}`);
    expectFailure(refused, 404, 'not_found');
    expectSameRefusal(refused, await bot.delete(`/bots/${UNKNOWN_UUID}`));
    expect((await other.get(`/bots/${other.id}`)).status).toBe(200);
  });
});
