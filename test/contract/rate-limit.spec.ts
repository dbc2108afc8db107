import type { Bot } from '../support/bot';
import { type Answer, Client, PREFIX } from '../support/client';
import { exchange } from '../support/exchange';
import { expectFailure } from '../support/expected';
import { rawRequest, requestText } from '../support/raw-socket';
import { CLOSED_ROUTES } from '../support/routes';
import { useServiceInProcess } from '../support/service';
import { snowflake } from '../support/snowflakes';
import { type StoppedClocks, stopWindows } from '../support/time';

const remaining = (answer: Answer<unknown>) => Number(answer.header('x-ratelimit-remaining'));
const limitOf = (answer: Answer<unknown>) => Number(answer.header('x-ratelimit-limit'));
const resetOf = (answer: Answer<unknown>) => Number(answer.header('x-ratelimit-reset'));

afterEach(() => jest.restoreAllMocks());

describe('the bucket of a bot', () => {
  const service = useServiceInProcess({
    RATE_LIMIT_TIERS: 'free=30',
    RATE_LIMIT_ANONYMOUS: '1000',
    RATE_LIMIT_CONSOLE: '4',
  });
  let bot: Bot;
  let clocks: StoppedClocks;
  beforeEach(async () => {
    clocks = stopWindows(service);
    bot = await service.registerBot();
  });

  /** Uses up all but `left` requests of this minute. */
  async function spend(left: number): Promise<void> {
    for (let count = 30; count > left; count--) await bot.get('/servers');
  }

  it('counts 30 requests down one by one over all routes, answers 429 to the 31st and stays there', async () => {
    for (let count = 0; count < 30; count++) {
      const route = CLOSED_ROUTES.filter(({ path }) => !path.startsWith('/bots'))[count % 15];
      const answer = await bot.send(route?.method ?? 'GET', `${PREFIX}${route?.path}`);
      expect({ limit: limitOf(answer), remaining: remaining(answer) }).toStrictEqual({
        limit: 30,
        remaining: 29 - count,
      });
      expect(answer.status).not.toBe(429);
    }
    for (let count = 0; count < 3; count++) {
      const answer = await bot.get('/servers');
      expectFailure(answer, 429, 'rate_limit_exceeded');
      expect(remaining(answer)).toBe(0);
    }
  });

  it('answers 429 before the 403 of a key that lacks the scope', async () => {
    const made = await bot.post<{ api_key: string }>(`/bots/${bot.id}/keys`, { scopes: ['read'] });
    const reader = new Client(service.url, made.data.api_key);
    expectFailure(await reader.post('/servers/register', {}), 403, 'insufficient_scope');
    for (let count = 2; count < 30; count++) await bot.get('/servers');
    expectFailure(await reader.post('/servers/register', {}), 429, 'rate_limit_exceeded');
  });

  it('is not that of the sessions of its console, which have one of their own together', async () => {
    const page = { 'content-type': 'application/json', 'x-lethe-console': '1' };
    const session = async (): Promise<Record<string, string>> => {
      const body = JSON.stringify({ key: bot.key });
      const answer = await fetch(`${service.url}/console/session`, { method: 'POST', headers: page, body });
      return { ...page, cookie: answer.headers.get('set-cookie')?.split(';')[0] ?? '' };
    };
    const [one, other] = [await session(), await session()];
    const shown = async (headers: Record<string, string>): Promise<(number | string | null)[]> => {
      const answer = await fetch(`${service.url}/console/api/v1/bots/me`, { headers });
      return [
        answer.status,
        ...['limit', 'remaining'].map((name) => answer.headers.get(`x-ratelimit-${name}`)),
      ];
    };
    await spend(0);
    expectFailure(await bot.get('/servers'), 429, 'rate_limit_exceeded');
    expect([await shown(one), await shown(other), await shown(one)]).toEqual([
      [200, '4', '3'],
      [200, '4', '2'],
      [200, '4', '1'],
    ]);
    // A batch counts in the same bucket.
    const items = Array.from({ length: 20 }, () => ({ user_id: snowflake(), guild_id: snowflake() }));
    const batch = { method: 'POST', headers: other, body: JSON.stringify({ items }) };
    expect((await fetch(`${service.url}/console/api/v1/consents/status/batch`, batch)).status).toBe(429);
    expect(await shown(other)).toEqual([429, '4', '0']);
    clocks.to(60_001);
    expect((await bot.get('/servers')).status).toBe(200);
    expect(remaining(await bot.get('/servers'))).toBe(28);
  });

  it('answers 429 with the three headers and Retry-After until the reset', async () => {
    await spend(0);
    for (const [passedMs, retryAfter] of [
      [0, '60'],
      [20_500, '40'],
      [59_999, '1'],
    ] as const) {
      clocks.to(passedMs);
      const answer = await bot.get('/servers');
      expectFailure(answer, 429, 'rate_limit_exceeded');
      expect(limitOf(answer)).toBe(30);
      expect(resetOf(answer)).toBe(clocks.wallMs / 1000 + 60);
      expect(answer.header('retry-after')).toBe(retryAfter);
    }
  });

  it('keeps its reset for the whole window and sends Retry-After with no other answer', async () => {
    const answers = [await bot.get('/servers')];
    clocks.to(30_000);
    answers.push(await bot.get('/nothing'));
    clocks.to(59_999);
    answers.push(await bot.post('/data/submit', {}));
    expect(new Set(answers.map(resetOf)).size).toBe(1);
    expect(answers.map((answer) => answer.header('retry-after'))).toStrictEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('is full again when the window has ended', async () => {
    await spend(0);
    expect((await bot.get('/servers')).status).toBe(429);
    clocks.to(60_000);
    const answer = await bot.get('/servers');
    expect({ status: answer.status, remaining: remaining(answer) }).toStrictEqual({
      status: 200,
      remaining: 29,
    });
  });

  it('admits exactly one of 100 parallel requests when one is left', async () => {
    await spend(1);
    const answers = await Promise.all(Array.from({ length: 100 }, () => bot.get('/servers')));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(99);
  });

  it('has no effect when it refuses', async () => {
    await spend(0);
    const guildId = snowflake();
    expect((await bot.post('/servers/register', { guild_id: guildId })).status).toBe(429);
    expect((await bot.delete(`/bots/${bot.id}`)).status).toBe(429);
    expect(await service.database.rows('SELECT id FROM bots WHERE id = ?', bot.id)).toHaveLength(1);
    expect(await service.database.rows('SELECT id FROM servers WHERE bot_id = ?', bot.id)).toEqual([]);
  });

  it('is its own: another bot still has all of its requests', async () => {
    const other = await service.registerBot();
    await spend(0);
    expect((await bot.get('/servers')).status).toBe(429);
    expect(remaining(await other.get('/servers'))).toBe(29);
  });

  it.each<[string, (bot: Bot) => Promise<Answer>, number]>([
    ['200', (caller) => caller.get('/servers'), 200],
    ['201', (caller) => caller.post('/servers/register', { guild_id: snowflake() }), 201],
    ['400 of a field', (caller) => caller.get('/servers?page=0'), 400],
    ['400 of unparsable JSON', (caller) => send(caller, '{'), 400],
    ['400 of a repeated parameter', (caller) => caller.get('/servers?page=1&page=1'), 400],
    ['403', (caller) => submit(caller), 403],
    ['404 of a resource', (caller) => caller.get('/data/categories/none'), 404],
    ['404 of an unknown path', (caller) => caller.get('/nothing'), 404],
    ['404 outside the prefix', (caller) => caller.send('GET', '/nothing'), 404],
    ['404 of OPTIONS', (caller) => caller.send('OPTIONS', `${PREFIX}/servers`), 404],
    ['413', (caller) => send(caller, ' '.repeat(262_145)), 413],
    ['415', (caller) => send(caller, '{}', 'text/plain'), 415],
  ])('counts a request that is answered %s', async (_, request, status) => {
    const answer = await request(bot);
    expect({ status: answer.status, limit: limitOf(answer), remaining: remaining(answer) }).toStrictEqual({
      status,
      limit: 30,
      remaining: 29,
    });
    expect(remaining(await bot.get('/servers'))).toBe(28);
  });

  it('refuses before it looks at credential, path or body: every kind of request is 429', async () => {
    await spend(0);
    const answers = [
      await bot.get('/nothing'),
      await bot.send('GET', '/nothing'),
      await bot.send('OPTIONS', `${PREFIX}/servers`),
      await send(bot, '{'),
      await send(bot, '{}', 'text/plain'),
      await send(bot, ' '.repeat(262_145)),
      await bot.get('/servers?page=1&page=1'),
      await bot.post('/bots/register', {}),
    ];
    for (const answer of answers) expectFailure(answer, 429, 'rate_limit_exceeded');
  });

  it("is the bot's for registrations too, when they carry its key", async () => {
    expect(remaining(await bot.post('/bots/register', {}))).toBe(29);
  });
});

const send = (caller: Client, raw: string, type = 'application/json') =>
  caller.send('POST', `${PREFIX}/servers/register`, { headers: { 'content-type': type }, raw });

const submit = (caller: Client) =>
  caller.post('/data/submit', { user_id: snowflake(), guild_id: snowflake(), category: 'x', data: {} });

describe('the tier of a bot', () => {
  const chosen = snowflake();
  const service = useServiceInProcess({
    RATE_LIMIT_TIERS: 'free=30,high=3000',
    RATE_LIMIT_BOT_TIERS: `${chosen}=high`,
    RATE_LIMIT_ANONYMOUS: '1000',
  });

  it('is free unless the operator has set another, whatever the bot sends', async () => {
    const bot = await service.registerBot({ tier: 'high' });
    expect(limitOf(await bot.get('/servers'))).toBe(30);
  });

  it('is what the operator has set', async () => {
    const bot = await service.registerBot({ platform_bot_id: chosen });
    expect(limitOf(await bot.get('/servers'))).toBe(3000);
  });
});

describe('the bucket of a client address', () => {
  const service = useServiceInProcess({ RATE_LIMIT_TIERS: 'free=30', RATE_LIMIT_ANONYMOUS: '25' });
  let bot: Bot;

  // All requests come from one address, so that each test plays its own minute.
  let minute = 0;
  beforeEach(async () => {
    minute += 1;
    stopWindows(service).to(minute * 3_600_000);
    bot = await service.registerBot();
  });

  it('counts what is no HTTP like every request, and answers 429 to the one too many', async () => {
    const send = async () => (await exchange(service.port, Buffer.from('hello\r\n\r\n'), true)).answers[0]!;
    for (let count = 1; count < 25; count++) {
      const { status, headers } = await send();
      expect([status, headers.get('x-ratelimit-remaining')]).toStrictEqual([400, String(24 - count)]);
    }
    const answer = await send();
    expectFailure(answer, 429, 'rate_limit_exceeded');
    expect(service.logLines.at(-1)).toContain('"method":"OTHER","route":null,"status":429');
  });

  it('counts registrations down and answers 429 to the one too many', async () => {
    for (let count = 1; count < 25; count++) {
      const answer = await service.anonymous.post('/bots/register', {
        platform_bot_id: snowflake(),
        name: 'x',
      });
      expect({ status: answer.status, remaining: remaining(answer) }).toStrictEqual({
        status: 201,
        remaining: 24 - count,
      });
    }
    const answer = await service.anonymous.post('/bots/register', {
      platform_bot_id: snowflake(),
      name: 'x',
    });
    expectFailure(answer, 429, 'rate_limit_exceeded');
    expect(answer.header('retry-after')).toMatch(/^\d+$/);
  });

  it('counts wrong keys, and answers 429 to them before 401', async () => {
    const guesser = new Client(service.url, 'sk_live_guess');
    for (let count = 1; count < 25; count++)
      expectFailure(await guesser.get('/servers'), 401, 'unauthorized');
    expectFailure(await guesser.get('/servers'), 429, 'rate_limit_exceeded');
  });

  it('leaves a bot with a valid key behind the same address alone', async () => {
    for (let count = 0; count < 30; count++) await service.anonymous.get('/servers');
    expectFailure(await service.anonymous.get('/servers'), 429, 'rate_limit_exceeded');
    expect(remaining(await bot.get('/servers'))).toBe(29);
  });

  it('is the same whatever X-Forwarded-For claims', async () => {
    const first = await service.anonymous.get('/servers', { 'x-forwarded-for': '203.0.113.7' });
    const second = await service.anonymous.get('/servers', {
      'x-forwarded-for': '203.0.113.8',
      forwarded: 'for=1.2.3.4',
    });
    expect(remaining(first) - remaining(second)).toBe(1);
  });

  it('counts the documentation, and answers 429 for it', async () => {
    for (let count = 1; count < 25; count++)
      expect((await fetch(`${service.url}/docs-json`)).status).toBe(200);
    expectFailure(await service.anonymous.send('GET', '/docs-json'), 429, 'rate_limit_exceeded');
    expectFailure(await service.anonymous.send('GET', '/docs'), 429, 'rate_limit_exceeded');
  });

  it('does not count health probes', async () => {
    const before = remaining(await service.anonymous.get('/servers'));
    await service.anonymous.send('GET', '/health/live');
    expect(remaining(await service.anonymous.get('/servers'))).toBe(before - 1);
  });

  it('counts a request whose body never comes', async () => {
    const before = remaining(await service.anonymous.get('/servers'));
    await rawRequest(service.port, requestText(`POST ${PREFIX}/bots/register`));
    expect(remaining(await service.anonymous.get('/servers'))).toBe(before - 2);
  });
});

describe('behind one trusted proxy', () => {
  const service = useServiceInProcess({ TRUST_PROXY: '1', RATE_LIMIT_ANONYMOUS: '25' });
  beforeEach(() => void stopWindows(service));

  it('every client address that the proxy names has its own bucket', async () => {
    const from = (address: string) => service.anonymous.get('/servers', { 'x-forwarded-for': address });
    await from('203.0.113.7');
    expect(remaining(await from('203.0.113.7'))).toBe(23);
    expect(remaining(await from('203.0.113.8'))).toBe(24);
  });

  it('what the client wrote before the proxy counts for nothing', async () => {
    const from = (claimed: string) =>
      service.anonymous.get('/servers', { 'x-forwarded-for': `${claimed}, 203.0.113.9` });
    await from('198.51.100.1');
    expect(remaining(await from('198.51.100.2'))).toBe(23);
  });
});
