import { Keyring } from '@app/crypto';
import { Clock } from '@app/kernel';
import type { Bot } from '../support/bot';
import { Answer, type Json } from '../support/client';
import { CLOSED_ROUTES, OPERATOR_ROUTES } from '../support/routes';
import { Service, useServiceInProcess } from '../support/service';

const OPERATOR_TOKEN = 'an-operator-token-'.repeat(3);
const ANOTHER = 'another-operator-token-'.repeat(2);
const service = useServiceInProcess({ OPERATOR_TOKEN, RATE_LIMIT_OPERATOR: '1000000' });
const PAGE = { 'x-lethe-console': '1', 'sec-fetch-site': 'same-origin' };
const EIGHT_HOURS_MS = 8 * 3_600_000;
let bot: Bot;

beforeEach(async () => {
  bot = await service.registerBot();
});
afterEach(() => jest.restoreAllMocks());

type Headers = Record<string, string>;

async function send(
  method: string,
  path: string,
  headers: Headers,
  body?: unknown,
  url = service.url,
): Promise<Answer<Json>> {
  const response = await fetch(url + path, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return new Answer<Json>(response.status, response.headers, await response.text());
}

const signIn = (key: string, headers: Headers = PAGE, url = service.url): Promise<Answer<Json>> =>
  send('POST', '/console/session', headers, { key }, url);

const cookieOf = (answer: Answer<Json>): string => (answer.header('set-cookie') ?? '').split(';')[0] ?? '';

async function session(key = OPERATOR_TOKEN): Promise<Headers & { cookie: string }> {
  return { ...PAGE, cookie: cookieOf(await signIn(key)) };
}

const status = (headers: Headers, url = service.url): Promise<Answer<Json>> =>
  send('GET', '/console/api/v1/operator/storage', headers, undefined, url);

describe('POST /console/session with the token of the operator', () => {
  it('answers 200 and a cookie of its kind, in which the token is not', async () => {
    const answer = await signIn(OPERATOR_TOKEN);
    expect([answer.status, answer.data]).toEqual([
      200,
      { operator: true, expires_at: expect.stringMatching(/Z$/) as string },
    ]);
    expect(answer.header('set-cookie')).toMatch(
      /^lethe_console=operator\.v2\.[\w.-]+; Path=\/console; Max-Age=28800; HttpOnly; SameSite=Strict$/,
    );
    const opened = service.app
      .get(Keyring)
      .decrypt(cookieOf(answer).slice('lethe_console=operator.'.length), 'console/operator');
    expect(opened.toString()).not.toContain(OPERATOR_TOKEN);
    expect(service.logLines.join('\n')).not.toContain(OPERATOR_TOKEN);
  });

  it.each([
    ['another token', `${OPERATOR_TOKEN}x`, PAGE],
    ['a text that is no key', 'x', PAGE],
    ['a call that is not from the page', OPERATOR_TOKEN, {}],
    ['a call of another site', OPERATOR_TOKEN, { ...PAGE, 'sec-fetch-site': 'cross-site' }],
  ])('answers 401 and no cookie for %s', async (_, text, headers) => {
    const answer = await signIn(text, headers);
    expect([answer.status, answer.header('set-cookie')]).toEqual([401, undefined]);
  });

  it.each([
    ['no such token', {}],
    ['an empty one', { OPERATOR_TOKEN: '' }],
  ])('is answered like every text that is no key where there is %s', async (_, settings) => {
    const without = await new Service(settings).start();
    try {
      const answers = [
        await signIn(OPERATOR_TOKEN, PAGE, without.url),
        await signIn('not-a-key', PAGE, without.url),
        await signIn('not-a-key'),
      ];
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect(answers.map(({ status: code }) => code)).toEqual([401, 401, 401]);
      expect((await signIn('', PAGE, without.url)).status).toBe(400);
    } finally {
      await without.stop();
    }
  });
});

describe('a session of the operator', () => {
  it('calls the operator’s routes, in the bucket of the operator', async () => {
    const answer = await status(await session());
    expect([answer.status, answer.header('x-ratelimit-limit')]).toEqual([200, '1000000']);
  });

  it.each(CLOSED_ROUTES)('never acts as a bot: $method $path', async ({ method, path }) => {
    expect((await send(method, `/console/api/v1${path}`, await session())).status).toBe(401);
  });

  it.each(OPERATOR_ROUTES)('is not that of a bot: $method $path', async ({ method, path }) => {
    expect((await send(method, `/console/api/v1${path}`, await session(bot.key))).status).toBe(401);
  });

  const asOperator = (cookie: string): string => cookie.replace('lethe_console=', 'lethe_console=operator.');
  it.each([
    ['without its cookie', (): Headers => ({ ...PAGE })],
    ['that the page has not sent', ({ cookie }) => ({ cookie })],
    ['of another site', (held) => ({ ...held, 'sec-fetch-site': 'cross-site' })],
    ['of a neighbour of the site', (held) => ({ ...held, 'sec-fetch-site': 'same-site' })],
    ['with the token in a header alone', () => ({ ...PAGE, authorization: `Bearer ${OPERATOR_TOKEN}` })],
    ['with a cookie that was changed', ({ cookie }) => ({ ...PAGE, cookie: `${cookie}A` })],
    [
      'with a cookie without its kind',
      ({ cookie }) => ({ ...PAGE, cookie: cookie.replace('operator.', '') }),
    ],
    ['of the page of a bot', (held) => ({ ...held, 'x-lethe-bot': bot.id })],
    ['with the token as cookie', () => ({ ...PAGE, cookie: `lethe_console=operator.${OPERATOR_TOKEN}` })],
  ] satisfies [string, (held: { cookie: string }) => Headers][])(
    'answers a call %s with 401',
    async (_, headersOf) => {
      expect((await status(headersOf(await session()))).status).toBe(401);
    },
  );

  it('is of the page that names the operator', async () => {
    expect((await status({ ...(await session()), 'x-lethe-bot': 'operator' })).status).toBe(200);
  });

  it('is not made of the session of a bot by another beginning of its cookie', async () => {
    const { cookie } = await session(bot.key);
    expect((await status({ ...PAGE, cookie: asOperator(cookie) })).status).toBe(401);
  });

  it('does not open with a text that the service has encrypted for something else', async () => {
    const { cookie } = await session();
    const keyring = service.app.get(Keyring);
    const text = keyring.decrypt(cookie.slice('lethe_console=operator.'.length), 'console/operator');
    const sealed = keyring.encrypt(text.toString(), 'console/session');
    expect((await status({ ...PAGE, cookie: `lethe_console=operator.${sealed}` })).status).toBe(401);
    expect((await status({ ...PAGE, cookie: `lethe_console=${sealed}` })).status).toBe(401);
  });

  it('ends after eight hours', async () => {
    const clock = service.app.get(Clock);
    const before = clock.nowMs();
    const held = await session();
    const after = clock.nowMs();
    const now = jest.spyOn(clock, 'nowMs');
    now.mockReturnValue(before + EIGHT_HOURS_MS - 1);
    expect((await status(held)).status).toBe(200);
    now.mockReturnValue(after + EIGHT_HOURS_MS);
    expect((await status(held)).status).toBe(401);
  });

  it('ends when the token changes, and when there is none any more', async () => {
    const held = await session();
    await service.app.close();
    for (const environment of [{ OPERATOR_TOKEN: ANOTHER }, {}] as Record<string, string>[]) {
      const next = await new Service(environment, service.database, service.directory).start();
      const answer = await status(held, next.url);
      await next.app.close();
      expect(answer.status).toBe('OPERATOR_TOKEN' in environment ? 401 : 404);
    }
    await service.start();
    expect((await status(held)).status).toBe(200);
  });
});
