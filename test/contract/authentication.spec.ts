import openapi from '../../openapi.json';
import { ownPaths } from '../support/further-modules';
import type { Bot } from '../support/bot';
import { Client, PREFIX } from '../support/client';
import { expectFailure, expectSameRefusal } from '../support/expected';
import { rawRequest, requestText } from '../support/raw-socket';
import { BODY_ROUTES, CLOSED_ROUTES, OPERATOR_ROUTES } from '../support/routes';
import { useService } from '../support/shared-service';

const service = useService();
let bot: Bot;
beforeAll(async () => {
  bot = await service.registerBot();
});

const withCredential = (authorization: string) => service.anonymous.get(`/bots/${bot.id}`, { authorization });

/** A key of the same length that differs in one character. */
function changed(key: string, at: number): string {
  const other = key.charAt(at) === 'a' ? 'b' : 'a';
  return key.slice(0, at) + other + key.slice(at + 1);
}

describe.each(CLOSED_ROUTES)('$method /api/v1$path', ({ method, path }) => {
  it('answers 401 unauthorized without an Authorization header', async () => {
    const answer = await service.anonymous.send(method, PREFIX + path);
    expectFailure(answer, 401, 'unauthorized');
    expect(answer.header('www-authenticate')).toBe('Bearer');
  });

  it('answers 401 unauthorized with a key that was never issued', async () => {
    const stranger = new Client(service.url, changed(bot.key, 20));
    expectFailure(await stranger.send(method, PREFIX + path), 401, 'unauthorized');
  });
});

it('needs a key or the token of the operator for every route of openapi.json but the registration', () => {
  const all = Object.values(ownPaths(openapi.paths)).reduce((sum, item) => sum + Object.keys(item).length, 0);
  expect(CLOSED_ROUTES.length + OPERATOR_ROUTES.length).toBe(all - 1);
  expect(OPERATOR_ROUTES).toHaveLength(8);
});

const WITH_BODY = BODY_ROUTES.filter(({ path }) => path !== '/bots/register');

describe.each(WITH_BODY)('$method /api/v1$path with a bad body', ({ method, path }) => {
  it.each([
    ['no JSON', '{', 'application/json'],
    ['another type', '{}', 'text/plain'],
    ['too large', ' '.repeat(262_145), 'application/json'],
  ])('answers 401 unauthorized without a key before it looks at the body (%s)', async (_, raw, type) => {
    const headers = { 'content-type': type };
    const answer = await service.anonymous.send(method, PREFIX + path, { headers, raw });
    expectFailure(answer, 401, 'unauthorized');
  });
});

describe('the API key', () => {
  it('opens the routes of its bot', async () => {
    expect((await withCredential(`Bearer ${bot.key}`)).status).toBe(200);
  });

  it.each(['bearer', 'BEARER', 'bEaReR'])('is taken with the scheme written %s', async (scheme) => {
    expect((await withCredential(`${scheme} ${bot.key}`)).status).toBe(200);
  });

  it.each([
    ['nothing', ''],
    ['the scheme alone', 'Bearer'],
    ['the scheme and spaces', 'Bearer  '],
    ['the key alone', 'KEY'],
    ['Basic', 'Basic KEY'],
    ['Token', 'Token KEY'],
    ['a scheme without a space', 'BearerKEY'],
    ['a key in quotes', 'Bearer "KEY"'],
    ['a key and more', 'Bearer KEY more'],
    ['two keys', 'Bearer KEY,KEY'],
    ['an escaped key', 'Bearer %73k_live_'],
    ['the prefix alone', 'Bearer sk_live_'],
    ['null', 'Bearer null'],
  ])('is refused with 401 in a header that holds %s', async (_, header) => {
    expectFailure(await withCredential(header.replaceAll('KEY', bot.key)), 401, 'unauthorized');
  });

  it.each(['KEY', ' KEY', 'sk_test_x'])(
    'without the word Bearer is answered that it is missing: %j',
    async (header) => {
      const { status, error, text } = await withCredential(header.replaceAll('KEY', bot.key));
      expect([status, error.message]).toEqual([
        401,
        expect.stringContaining('Bearer is missing before the API key'),
      ]);
      expect(text).not.toContain(bot.key);
    },
  );

  it.each(['KEY', 'Basic KEY', 'BearerKEY', 'Bearer '])(
    'is asked for as a Bearer key behind %j',
    async (header) => {
      const { error, text } = await withCredential(header.replaceAll('KEY', bot.key));
      expect(error.message).toContain('send Authorization: Bearer <API key>');
      expect(text).not.toContain(bot.key);
    },
  );

  it.each([0, 7, 8, 9, 15, 16, 30, 50, 55, 56])('is refused when its character %i is another', async (at) => {
    expectFailure(await withCredential(`Bearer ${changed(bot.key, at)}`), 401, 'unauthorized');
  });

  it.each([
    ['its last character missing', (key: string) => key.slice(0, -1)],
    ['one character more', (key: string) => `${key}a`],
    ['its case changed', (key: string) => `sk_live_${key.slice(8).toUpperCase()}`],
    ['only its visible prefix', (key: string) => key.slice(0, 16)],
    ['8 KB of it', (key: string) => key.repeat(140)],
  ])('is refused with %s', async (_, spoil) => {
    expectFailure(await withCredential(`Bearer ${spoil(bot.key)}`), 401, 'unauthorized');
  });

  it('is refused with the same words whether it is nearly right or wholly wrong', async () => {
    const near = await withCredential(`Bearer ${changed(bot.key, 56)}`);
    const far = await withCredential('Bearer x');
    expectSameRefusal(near, far);
  });

  it('is not taken from the query, the body, a cookie or another header', async () => {
    const { anonymous } = service;
    expectFailure(await anonymous.get(`/bots/${bot.id}?api_key=${bot.key}`), 401, 'unauthorized');
    expectFailure(await anonymous.put(`/bots/${bot.id}`, { api_key: bot.key }), 401, 'unauthorized');
    expectFailure(
      await anonymous.get(`/bots/${bot.id}`, { cookie: `api_key=${bot.key}` }),
      401,
      'unauthorized',
    );
    expectFailure(await anonymous.get(`/bots/${bot.id}`, { 'x-api-key': bot.key }), 401, 'unauthorized');
  });

  it('counts once: of two Authorization headers the second opens nothing', async () => {
    const other = await service.registerBot();
    const headers = [`Authorization: Bearer ${bot.key}`, `Authorization: Bearer ${other.key}`];
    const answer = await rawRequest(service.port, requestText(`GET ${PREFIX}/bots/${other.id}`, headers));
    expect([401, 404]).toContain(answer.status);
  });

  it.each([
    ['a NUL', '\0'],
    ['an accent', 'é'],
    ['an emoji', '😀'],
  ])('is refused without a fault of the service when it holds %s', async (_, text) => {
    const headers = [`Authorization: Bearer ${bot.key.slice(0, -2)}${text}`];
    const answer = await rawRequest(service.port, requestText(`GET ${PREFIX}/bots/${bot.id}`, headers));
    expect([400, 401]).toContain(answer.status);
    expect(JSON.parse(answer.body)).toMatchObject({ success: false });
  });

  it('is never answered again', async () => {
    const answers = [
      await bot.get(`/bots/${bot.id}`),
      await bot.put(`/bots/${bot.id}`, { name: bot.key.slice(0, 10) }),
      await bot.post('/bots/register', { platform_bot_id: bot.platformBotId, name: 'x' }),
    ];
    for (const answer of answers) expect(answer.text).not.toContain(bot.key);
  });
});

describe('POST /api/v1/bots/register', () => {
  it('is open to a caller without a key and to one with a wrong key', async () => {
    expect((await service.anonymous.post('/bots/register', {})).status).toBe(400);
    expect((await new Client(service.url, 'wrong').post('/bots/register', {})).status).toBe(400);
  });
});
