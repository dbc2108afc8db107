import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BotAdministration } from '@app/bots';
import { ConsoleFiles } from '@app/pages';
import { Keyring } from '@app/crypto';
import { Clock } from '@app/kernel';
import type { Bot } from '../support/bot';
import { Answer, type Json, PREFIX } from '../support/client';
import { expectFailure } from '../support/expected';
import { heldBody } from '../support/held-body';
import { Service, useServiceInProcess } from '../support/service';
import { subject } from '../support/snowflakes';
import { passes } from '../support/time';

const service = useServiceInProcess();
const PAGE = { 'x-lethe-console': '1', 'sec-fetch-site': 'same-origin' };
const EIGHT_HOURS_MS = 8 * 3_600_000;
let bot: Bot;

beforeEach(async () => {
  bot = await service.registerBot();
});
afterEach(() => jest.restoreAllMocks());

type Headers = Record<string, string>;

async function send(method: string, path: string, headers: Headers, body?: unknown): Promise<Answer<Json>> {
  const response = await fetch(service.url + path, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
    redirect: 'manual',
  });
  return new Answer<Json>(response.status, response.headers, await response.text());
}

const signIn = (key: string | undefined, headers: Headers = PAGE): Promise<Answer<Json>> =>
  send('POST', '/console/session', headers, { key });

const setCookie = (answer: Answer<Json>): string => answer.header('set-cookie') ?? '';

/** The headers of a page that has signed in. */
async function session(key = bot.key): Promise<Headers> {
  return { ...PAGE, cookie: setCookie(await signIn(key)).split(';')[0] ?? '' };
}

const me = (headers: Headers): Promise<Answer<Json>> => send('GET', '/console/api/v1/bots/me', headers);

describe('POST /console/session', () => {
  it('answers 200 with the bot and its scopes, and a cookie for this path that no script and no other site has', async () => {
    const answer = await signIn(bot.key);
    expect([answer.status, answer.data]).toMatchObject([
      200,
      {
        ...{ bot_id: bot.id, scopes: ['read', 'write', 'erase', 'admin'] },
        revoked_data_grace_days: 30,
        public_url: null,
      },
    ]);
    expect(setCookie(answer)).toMatch(
      /^lethe_console=v2\.[\w.-]+; Path=\/console; Max-Age=28800; HttpOnly; SameSite=Strict$/,
    );
    expect(answer.text + setCookie(answer)).not.toContain(bot.key?.slice(12));
  });

  it.each([
    ['a key that is not valid', 401, (): Promise<Answer<Json>> => signIn(`sk_live_${'a'.repeat(49)}`)],
    ['no key', 400, () => signIn(undefined)],
    ['a call that is not from the page', 401, () => signIn(bot.key, {})],
    ['a call of another site', 401, () => signIn(bot.key, { ...PAGE, 'sec-fetch-site': 'cross-site' })],
  ])('answers %s with %d and no cookie', async (_, status, act) => {
    const answer = await act();
    expect([answer.status, setCookie(answer)]).toStrictEqual([status, '']);
  });

  it('writes no key and no cookie to the log', async () => {
    const { cookie = '' } = await session();
    await me({ ...PAGE, cookie });
    const log = service.logLines.join('\n');
    expect(log).not.toContain(bot.key);
    expect(log).not.toContain(cookie.split('.')[2]);
  });

  it.each([
    ['the caller came by HTTPS', { TRUST_PROXY: '1' }, 'https'],
    ['users reach the service by HTTPS', { PUBLIC_URL: 'https://lethe.example.org' }, 'http'],
  ])(
    'marks the cookie as Secure where %s, and says PUBLIC_URL or warns that it is missing',
    async (_, settings, proto) => {
      const behind = await new Service(settings).start();
      try {
        const other = await behind.registerBot();
        const response = await fetch(`${behind.url}/console/session`, {
          method: 'POST',
          headers: { ...PAGE, 'content-type': 'application/json', 'x-forwarded-proto': proto },
          body: JSON.stringify({ key: other.key }),
        });
        expect(response.headers.get('set-cookie')).toMatch(/; Secure$/);
        const { data } = (await response.json()) as { data: { public_url: string | null } };
        expect(data.public_url).toBe('PUBLIC_URL' in settings ? settings.PUBLIC_URL : null);
        const warnings = behind.logLines.filter((line) => line.includes('PUBLIC_URL is not set'));
        expect(warnings).toHaveLength('PUBLIC_URL' in settings ? 0 : 1);
      } finally {
        await behind.stop();
      }
    },
  );
});

describe('a session of the console', () => {
  it('calls the interface with its key, within the scopes and limits of this key', async () => {
    const answer = await me(await session());
    expect([answer.status, answer.data]).toMatchObject([200, { id: bot.id }]);
    expect(answer.header('x-ratelimit-limit')).toBe('1000000');
    const { data } = await bot.post(`/bots/${bot.id}/keys`, { scopes: ['read'] });
    const reading = await session(data.api_key as string);
    expect((await me(reading)).status).toBe(200);
    const refused = await send('POST', '/console/api/v1/consents/request', reading, {
      ...subject(),
      consent_version: '1',
    });
    expect(refused).toMatchObject({ status: 403, error: { code: 'insufficient_scope' } });
  });

  it.each([
    ['without its cookie', (): Headers => ({ ...PAGE })],
    ['that the page has not sent', ({ cookie = '' }: Headers) => ({ cookie })],
    ['of another site', (held: Headers) => ({ ...held, 'sec-fetch-site': 'cross-site' })],
    ['of a neighbour of the site', (held: Headers) => ({ ...held, 'sec-fetch-site': 'same-site' })],
    ['with an Authorization header alone', () => ({ ...PAGE, authorization: `Bearer ${bot.key}` })],
    ['with a cookie that was changed', ({ cookie = '' }: Headers) => ({ ...PAGE, cookie: `${cookie}A` })],
    [
      'with two cookies of its name',
      (held: Headers) => ({ ...held, cookie: `lethe_console=x; ${held['cookie']}` }),
    ],
    ['with a cookie of no text', () => ({ ...PAGE, cookie: 'lethe_console=v2.aaaaaaaa.AAAA' })],
  ])('answers a call %s with 401', async (_, headersOf) => {
    const answer = await me(headersOf(await session()));
    expect(answer).toMatchObject({ status: 401, error: { code: 'unauthorized' } });
  });

  it('answers 401 to the page of another bot or of the operator, and 200 to its own and to one that names none', async () => {
    const held = await session();
    const named = async (name: string): Promise<number> =>
      (await me({ ...held, 'x-lethe-bot': name })).status;
    const other = await service.registerBot();
    expect(await Promise.all([bot.id, other.id, 'operator'].map(named))).toEqual([200, 401, 401]);
    expect((await me(held)).status).toBe(200);
  });

  it('that began before it had the id of its bot is of every page', async () => {
    const session = { key: bot.key, untilMs: Date.now() + EIGHT_HOURS_MS };
    const sealed = service.app.get(Keyring).encrypt(JSON.stringify(session), 'console/session');
    const held = { ...PAGE, cookie: `lethe_console=${sealed}` };
    expect((await me({ ...held, 'x-lethe-bot': bot.id })).status).toBe(200);
  });

  it('does not open with a text that the service has encrypted for something else', async () => {
    const sealed = service.app
      .get(Keyring)
      .encrypt(JSON.stringify({ key: bot.key, untilMs: Date.now() * 2 }), 'another');
    expect((await me({ ...PAGE, cookie: `lethe_console=${sealed}` })).status).toBe(401);
  });

  it('ends after eight hours', async () => {
    const clock = service.app.get(Clock);
    const before = clock.nowMs();
    const held = await session();
    const after = clock.nowMs();
    const now = jest.spyOn(clock, 'nowMs');
    now.mockReturnValue(before + EIGHT_HOURS_MS - 1);
    expect((await me(held)).status).toBe(200);
    now.mockReturnValue(after + EIGHT_HOURS_MS);
    expect((await me(held)).status).toBe(401);
  });

  it.each([
    ['after eight hours', () => passes(service, EIGHT_HOURS_MS)],
    ['with its key', () => service.app.get(BotAdministration, { strict: false }).newKey(bot.id)],
  ])('ends %s for a request whose body comes then', async (_, ends) => {
    const guild = { guild_id: subject().guild_id };
    const call = await heldBody(service, `/console${PREFIX}/servers/register`, await session(), guild);
    await ends();
    expectFailure(await call(), 401, 'unauthorized');
    expect(await service.database.rows('SELECT 1 FROM servers WHERE bot_id = ?', bot.id)).toEqual([]);
  });

  it('ends with its key', async () => {
    const { data } = await bot.post(`/bots/${bot.id}/keys`, { scopes: ['read'] });
    const held = await session(data.api_key as string);
    expect((await me(held)).status).toBe(200);
    await bot.delete(`/bots/${bot.id}/keys/${data.id as string}`);
    expect((await me(held)).status).toBe(401);
  });

  it('is taken away from the browser by DELETE, which only the page can send', async () => {
    const held = await session();
    const answer = await send('DELETE', '/console/session', held);
    expect([answer.status, setCookie(answer)]).toStrictEqual([
      200,
      'lethe_console=; Path=/console; Max-Age=0; HttpOnly; SameSite=Strict',
    ]);
    expect((await send('DELETE', '/console/session', {})).status).toBe(401);
  });

  it('reaches nothing but the interface', async () => {
    const held = await session();
    for (const path of ['/console/api/health/live', '/console/api/v2/bots/me'])
      expect((await send('GET', path, held)).status).toBe(404);
  });
});

describe('GET /console', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'lethe-console-'));
    mkdirSync(join(folder, 'assets'));
    writeFileSync(join(folder, 'index.html'), '<!doctype html>');
    writeFileSync(join(folder, 'assets/index-abc.js'), '1');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('answers 404 where the console was not built', async () => {
    expect((await send('GET', '/console', {})).status).toBe(404);
  });

  it('answers its page for every path of it, and its files, to everybody, with a strict policy', async () => {
    const files = service.app.get(ConsoleFiles);
    Object.assign(files, { folder, files: undefined });
    const shown = async (path: string) => {
      const answer = await send('GET', path, {});
      return [
        answer.status,
        answer.header('content-type'),
        answer.header('cache-control'),
        answer.header('content-security-policy')?.slice(0, 38),
        answer.header('x-frame-options'),
      ];
    };
    const headed = ["default-src 'none'; script-src 'self';", 'DENY'];
    for (const path of ['/console', '/console/users', '/console/assets'])
      expect(await shown(path)).toStrictEqual([200, 'text/html; charset=utf-8', 'no-cache', ...headed]);
    expect(await shown('/console/assets/index-abc.js')).toStrictEqual([
      200,
      'text/javascript; charset=utf-8',
      'public, max-age=31536000, immutable',
      ...headed,
    ]);
    expect((await send('GET', '/verify', {})).status).toBe(404);
    writeFileSync(join(folder, 'verify.html'), '<!doctype html>');
    Object.assign(files, { folder, files: undefined });
    expect(await shown('/verify')).toStrictEqual([200, 'text/html; charset=utf-8', 'no-cache', ...headed]);
    for (const path of ['/verify/x', '/verify.html', '/console/../verify.html'])
      expect([path, (await send('GET', path, {})).status]).toStrictEqual([path, 404]);
    expect((await send('POST', '/verify', {}, {})).status).toBe(404);
    expect((await send('GET', '/console/assets/other.js', {})).status).toBe(404);
    expect((await send('POST', '/console/users', {}, {})).status).toBe(404);
  });
});
