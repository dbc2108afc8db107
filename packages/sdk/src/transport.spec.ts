import { getEventListeners } from 'node:events';
import { inspect } from 'node:util';
import {
  ConflictError,
  ConsentRequiredError,
  InsufficientScopeError,
  InvalidRequestError,
  LetheError,
  NetworkError,
  NotFoundError,
  ProcessingRefusedError,
  RateLimitedError,
  SuspendedError,
  TimeoutError,
  UnauthorizedError,
  UnavailableError,
} from './errors';
import { type ClientOptions, Lethe } from './lethe';
import { ReplayCache } from './replay-cache';
import { createWebhookHandler } from './webhook-handler';

const who = { user_id: '123456789012345678', guild_id: '223456789012345678' };
const values = { ...who, category: 'profile', data: { nickname: 'Robin' } };

type Step = (request: Request) => Response | Promise<Response>;

const ok = (data: object = {}): Step => {
  return () => Response.json({ success: true, data });
};
const refused = (status: number, code: string, details = {}, headers = {}): Step => {
  const error = { code, message: `refused: ${code}`, details };
  return () =>
    Response.json({ success: false, error }, { status, headers: { 'x-request-id': 'r1', ...headers } });
};
const fails =
  (code?: string): Step =>
  () =>
    Promise.reject(Object.assign(new TypeError('fetch failed'), code && { cause: { code } }));
/** The answer ends in the middle of its body. */
const cut: Step = () =>
  new Response(
    new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"success":tr')),
      pull: (controller) => controller.error(new TypeError('terminated')),
    }),
  );
/** Neither answers nor notices its signal. */
const silent: Step = () => new Promise(() => undefined);

/** A client whose requests meet the steps in turn, the last one for ever. */
function client(steps: readonly Step[], options: Partial<ClientOptions> = {}) {
  const requests: Request[] = [];
  const fetch = (async (url: string, init: RequestInit) => {
    const request = new Request(url, { ...init, signal: null });
    requests.push(request);
    return (steps[requests.length - 1] ?? steps.at(-1))?.(request);
  }) as typeof globalThis.fetch;
  const lethe = new Lethe({ url: 'https://lethe.example/', key: 'sk_live_x', fetch, ...options });
  return { lethe, requests, keys: () => requests.map(({ headers }) => headers.get('idempotency-key')) };
}

/** What a call came to while the timers run. */
async function outcome<T>(call: Promise<T>): Promise<T | Error> {
  const settled = call.catch((error: unknown) => error as Error);
  await jest.runAllTimersAsync();
  return settled;
}

const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);
beforeAll(() => process.on('unhandledRejection', note));
afterAll(() => {
  process.off('unhandledRejection', note);
});

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
});
afterEach(async () => {
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
  await new Promise((resolve) => setImmediate(resolve));
  expect(unhandled).toEqual([]);
});

describe('withConsent', () => {
  it.each([
    ['by this client', (lethe: Lethe) => lethe.consents.revoke(who)],
    ['elsewhere, of which a webhook call has said so', async (lethe: Lethe) => lethe.emptyConsentCache()],
  ])('runs nothing after a withdrawal that was recorded while it waited: %s', async (_name, revoke) => {
    let status = 'accepted';
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let isAsked = (): void => undefined;
    const asked = new Promise<void>((resolve) => (isAsked = resolve));
    const { lethe } = client([
      async ({ url, method }) => {
        if (url.includes('/refusals/')) {
          isAsked();
          await held;
        }
        if (method === 'POST') status = 'revoked';
        const view = { status, objections: [], restrictions: [], requires_consent: true };
        return Response.json({ success: true, data: view });
      },
    ]);
    const act = jest.fn();
    const acting = lethe.withConsent(who, 'profile', act).catch((error: unknown) => error);
    await asked;
    status = 'revoked';
    await revoke(lethe);
    release();
    expect(await acting).toBeInstanceOf(ConsentRequiredError);
    expect(act).not.toHaveBeenCalled();
  });

  it.each([
    ['of the user', () => [who.user_id]],
    ['of any user', () => []],
  ])('asks a few times where consents %s change again and again, and then runs nothing', async (_, given) => {
    const { lethe, requests } = client([
      () => {
        lethe.emptyConsentCache(...given());
        const data = { status: 'accepted', objections: [], restrictions: [] };
        return Response.json({ success: true, data });
      },
    ]);
    const act = jest.fn();
    await expect(lethe.withConsent(who, 'profile', act)).rejects.toBeInstanceOf(UnavailableError);
    expect([requests.length, act.mock.calls]).toEqual([10, []]);
  });

  it('asks once where consents of other users change meanwhile, or an item of a batch is refused for one', async () => {
    const other = { ...who, user_id: '1' };
    const results = [{ ok: false, error: { code: 'consent_required', message: '' } }];
    const { lethe, requests } = client([
      async ({ method }) => {
        if (method === 'GET') {
          await lethe.consents.accept({ ...other, consent_version: '1' });
          const items = [{ ...other, category: 'profile', data: {} }];
          for await (const { ok } of lethe.data.submitMany(items)) expect(ok).toBe(false);
        }
        const data = { status: 'accepted', objections: [], restrictions: [], results };
        return Response.json({ success: true, data });
      },
    ]);
    expect(await lethe.withConsent(who, 'profile', () => 'done')).toBe('done');
    expect(requests.filter(({ method }) => method === 'GET')).toHaveLength(2);
  });
});

describe('a request', () => {
  it('carries the key, the ids as text, and a key of idempotency', async () => {
    const { lethe, requests } = client([ok()], { key: async () => 'sk_live_present' });
    await lethe.data.merge({ ...values, user_id: 123456789012345678n });
    const [request] = requests;
    expect(request?.url).toBe('https://lethe.example/api/v1/data/submit');
    expect(request?.headers.get('authorization')).toBe('Bearer sk_live_present');
    expect(request?.headers.get('idempotency-key')).toMatch(/^[0-9a-f-]{36}$/);
    expect(await request?.json()).toEqual({ ...values, mode: 'merge' });
  });

  it('has a UUID as key of idempotency on a page that came over plain HTTP', async () => {
    const { crypto } = globalThis;
    const getRandomValues = (into: Uint8Array): Uint8Array => crypto.getRandomValues(into);
    Object.defineProperty(globalThis, 'crypto', { value: { getRandomValues }, configurable: true });
    try {
      const { lethe, keys } = client([ok()]);
      for (let call = 0; call < 20; call++) await lethe.data.submit(values);
      expect(new Set(keys()).size).toBe(20);
      for (const key of keys())
        expect(key).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    } finally {
      Object.defineProperty(globalThis, 'crypto', { value: crypto, configurable: true });
    }
  });

  it('puts ids in the path, and the rest of a GET in the query', async () => {
    const { lethe, requests } = client([ok()]);
    await lethe.data.export({ user_id: 123456789012345678n, guild_id: who.guild_id, format: 'full' });
    await lethe.categories.get('a/b');
    expect(requests.map(({ url }) => url.slice('https://lethe.example/api/v1'.length))).toEqual([
      '/data/export/123456789012345678?guild_id=223456789012345678&format=full',
      '/data/categories/a%2Fb',
    ]);
  });

  it('for public keys is repeated as every other, and has its errors', async () => {
    const keys = { keys: [] };
    const set: Step = () => Response.json(keys);
    const asking: [string, (lethe: Lethe) => Promise<unknown>][] = [
      ['lethe-keys.json', (lethe) => lethe.publicKeys()],
      ['lethe-webhook-keys/b1', (lethe) => lethe.webhookKeys('b1')],
    ];
    // Hooks see operations alone, by whose routes they count.
    const hook = jest.fn();
    const hooks = { onRequest: hook, onResponse: hook, onRetry: hook };
    for (const [path, ask] of asking) {
      const steps = [refused(503, 'service_unavailable'), fails('ECONNRESET'), cut, set];
      const { lethe, requests } = client(steps, hooks);
      expect(await outcome(ask(lethe))).toEqual(keys);
      expect(requests.map(({ url }) => url)).toEqual(
        steps.map(() => `https://lethe.example/.well-known/${path}`),
      );
      expect(requests[0]?.headers.get('authorization')).toBeNull();
      const errors: [Step, unknown][] = [
        [fails(), NetworkError],
        [refused(404, 'not_found'), NotFoundError],
        [silent, TimeoutError],
        [() => new Response('<html>'), LetheError],
        [() => Response.json({}), LetheError],
      ];
      for (const [step, wanted] of errors)
        expect(await outcome(ask(client([step]).lethe))).toBeInstanceOf(wanted);
      expect(hook).not.toHaveBeenCalled();
    }
  });

  it('is not sent with an id that is a number, which has lost digits', async () => {
    const { lethe, requests } = client([ok()]);
    const id = 223456789012345678 as unknown as string;
    const calls = [
      lethe.consents.status({ ...who, guild_id: id }),
      lethe.data.export({ ...who, user_id: id }),
      lethe.consents.statusMany([{ ...who, guild_id: id }]),
      lethe.withConsent({ ...who, user_id: id }, 'profile', () => undefined),
    ];
    for (const call of calls) await expect(call).rejects.toThrow(/string or a bigint/);
    expect(requests).toEqual([]);
  });

  it.each(['', '.', '..'])('is not sent with an id that is the path of something else: %j', async (id) => {
    const { lethe, requests } = client([ok({ id: 'b1' })]);
    const calls = [
      lethe.keys.delete(id),
      lethe.categories.delete(id),
      lethe.data.export({ ...who, user_id: id }),
      lethe.webhookKeys(id),
    ];
    for (const call of calls) await expect(call).rejects.toThrow(`is no id: '${id}'`);
    // The id of the bot itself is asked for before.
    expect(requests.map(({ url }) => url)).toEqual(['https://lethe.example/api/v1/bots/me']);
  });

  it('is not sent with a value that JSON would lose, and the error has its path', async () => {
    const lost: [unknown, string][] = [
      [{ score: NaN }, 'data.score is the number NaN'],
      [{ scores: [1, { last: -Infinity }] }, 'data.scores[1].last is the number -Infinity'],
      [{ seen: new Map([['a', 1]]) }, 'data.seen is a Map'],
      [{ seen: [new Set()] }, 'data.seen[0] is a Set'],
      [{ at: new Date(NaN) }, 'data.at is a Date without a time'],
      [{ score: { toJSON: () => NaN } }, 'data.score is the number NaN'],
      [{ seen: { toJSON: () => new Map() } }, 'data.seen is a Map'],
    ];
    const { lethe, requests } = client([ok({ results: [] })]);
    for (const [data, words] of lost) {
      const given = { ...who, category: 'profile', data: data as Record<string, never> };
      const error = await outcome(lethe.data.merge(given));
      expect(error).toBeInstanceOf(TypeError);
      expect((error as Error).message).toContain(words);
      const many = lethe.data.submitMany([values, given]).next();
      expect(await outcome(many)).toMatchObject({ message: expect.stringContaining(`items[1].${words}`) });
    }
    expect(requests).toEqual([]);
    class Collection extends Map<string, number> {
      toJSON(): number[] {
        return [...this.values()];
      }
    }
    const shared = {
      at: new Date(0),
      none: null,
      left: undefined,
      numbers: [0, -1.5],
      seen: new Collection([['a', 1]]),
    };
    const data = { one: shared, two: [shared] } as unknown as Record<string, never>;
    await lethe.data.merge({ ...who, category: 'profile', data });
    expect(await requests[0]?.json()).toEqual(
      JSON.parse(JSON.stringify({ ...who, category: 'profile', data, mode: 'merge' })),
    );
  });

  it('is refused with a key that is more than the key', () => {
    for (const key of ['', 'Bearer sk_live_x', 'sk_live_x\n', 'sk_live_…', 'sk_live_x\0'])
      expect(() => client([], { key })).toThrow(/without "Bearer"/);
  });

  it('is not sent with a key or header that HTTP refuses, and no error has its text', async () => {
    const onRetry = jest.fn();
    for (const secret of ['sk_live_secret\nsk_live_other', 'Bearer sk_live_secret', 'sk_live_secret…', '']) {
      const { lethe, requests } = client([ok()], { key: () => secret, onRetry });
      const error = await outcome(lethe.bots.me());
      expect(error).toBeInstanceOf(TypeError);
      expect(error).toMatchObject({ message: expect.stringMatching(/^key must be the API key alone/) });
      expect(inspect(error)).not.toContain('secret');
      expect(requests).toEqual([]);
    }
    const { lethe, requests } = client([ok()], { onRetry });
    const wrong: [object, string][] = [
      [{ idempotencyKey: 'secret\nkey' }, '"idempotency-key"'],
      [{ idempotencyKey: 'secret ✓' }, '"idempotency-key"'],
      [{ headers: { 'x-a': 'secret\r\nx-b: 1' } }, '"x-a"'],
      [{ headers: { 'x\na': 'secret' } }, '"x\\na"'],
    ];
    for (const [options, name] of wrong) {
      const error = await outcome(lethe.data.submit(values, options));
      expect(error).toBeInstanceOf(TypeError);
      expect(error).toMatchObject({ message: expect.stringContaining(`The header ${name} cannot be sent`) });
      expect(inspect(error)).not.toContain('secret');
    }
    expect(requests).toEqual([]);
    expect(onRetry).not.toHaveBeenCalled();
  });

  it('is refused without an address, in a sentence, and takes an address with the path of the interface', async () => {
    for (const url of [undefined, '', 'localhost:3000', '127.0.0.1:3000', 'http://', 'ftp://lethe.example'])
      expect(() => client([], { url: url as string })).toThrow(
        /^url must be the address of Lethe.*environment/,
      );
    for (const url of ['https://lethe.example/api/v1', 'https://lethe.example/api/v1/']) {
      const { lethe, requests } = client([ok()], { url });
      await lethe.bots.me();
      expect(requests[0]?.url).toBe('https://lethe.example/api/v1/bots/me');
    }
  });

  it('needs no function that Node.js 18.0 lacks for its address', () => {
    const canParse = jest.spyOn(URL, 'canParse').mockImplementation(() => {
      throw new TypeError('URL.canParse is not a function');
    });
    expect(() => client([])).not.toThrow();
    expect(() => client([], { url: 'http://' })).toThrow(/^url must be the address of Lethe/);
    canParse.mockRestore();
  });
});

describe('a fault of the network', () => {
  it.each([['fetch fails', fails()] as const, ['the answer is cut', cut] as const])(
    'is repeated with the same key of idempotency (%s)',
    async (_name, fault) => {
      const { lethe, keys } = client([fault, fault, ok({ stored: true })]);
      expect(await outcome(lethe.data.submit(values))).toEqual({ stored: true });
      expect(keys()).toEqual(Array(3).fill(expect.stringMatching(/^[0-9a-f-]{36}$/)));
      expect(new Set(keys()).size).toBe(1);
    },
  );

  it('is repeated as often as wanted, and is then the error', async () => {
    const { lethe, requests } = client([fails()], { retries: 2 });
    const error = await outcome(lethe.consents.status(who));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({ code: 'network_error', status: undefined, docs: undefined });
    expect(requests).toHaveLength(3);
  });

  it('is not repeated where the act could be done twice: registration and DELETE', async () => {
    const { lethe, requests } = client([fails()]);
    const given = { platform_bot_id: who.user_id, name: 'Greeter' };
    expect(await outcome(lethe.bots.register(given))).toBeInstanceOf(NetworkError);
    expect(await outcome(lethe.categories.delete('profile'))).toBeInstanceOf(NetworkError);
    expect(requests).toHaveLength(2);
  });

  it('is repeated everywhere if the request was never sent', async () => {
    const { lethe, keys } = client([fails('ECONNREFUSED'), ok({ id: 'x' })]);
    const given = { platform_bot_id: who.user_id, name: 'Greeter' };
    expect(await outcome(lethe.bots.register(given))).toEqual({ id: 'x' });
    expect(keys()).toEqual([null, null]);
  });

  it('leaves the first attempt the time that it needs: a conflict with itself is repeated', async () => {
    const running = refused(409, 'conflict', { reason: 'idempotency_in_progress' });
    const { lethe } = client([fails(), running, ok({ stored: true })]);
    expect(await outcome(lethe.data.submit(values))).toEqual({ stored: true });
  });
});

describe('an act that is still running after its connection was lost', () => {
  const running = refused(409, 'conflict', { reason: 'idempotency_in_progress' });
  const erasing = refused(409, 'conflict', { reason: 'deletion_in_progress' });
  const acts: [string, Step, (lethe: Lethe, retries?: number) => Promise<unknown>][] = [
    ['a submit', running, (lethe, retries) => lethe.data.submit(values, { retries, timeoutMs: 300_000 })],
    ['an erasure', erasing, (lethe, retries) => lethe.privacy.forget(who, { retries, timeoutMs: 300_000 })],
  ];

  it.each(acts)('is waited for as long as the time allows: %s', async (_name, busy, act) => {
    const { lethe, requests } = client([cut, ...Array<Step>(9).fill(busy), ok({ done: true })]);
    expect(await outcome(act(lethe, 1))).toEqual({ done: true });
    expect(requests).toHaveLength(11);
    // Other failures count as ever.
    const failing = client([cut, busy, busy, fails(), busy]);
    expect(await outcome(act(failing.lethe, 1))).toBeInstanceOf(NetworkError);
    expect(failing.requests).toHaveLength(4);
    const endless = client([cut, busy]);
    expect(await outcome(act(endless.lethe))).toBeInstanceOf(ConflictError);
    expect(endless.requests.length).toBeGreaterThan(20);
  });

  it('is not waited for by a call without repetitions', async () => {
    const { lethe, requests } = client([running]);
    expect(await outcome(lethe.data.submit(values, { retries: 0 }))).toBeInstanceOf(ConflictError);
    expect(requests).toHaveLength(1);
  });

  it('is another one where no request of this call was carried out', async () => {
    for (const first of [refused(429, 'rate_limit_exceeded'), fails('ECONNREFUSED')]) {
      const { lethe, requests } = client([first, erasing]);
      expect(await outcome(lethe.privacy.forget(who))).toBeInstanceOf(ConflictError);
      expect(requests).toHaveLength(2);
    }
  });
});

describe('a refusal that passes', () => {
  it.each([
    [429, 'rate_limit_exceeded'],
    [503, 'service_unavailable'],
  ])('%i is repeated when the service says so', async (status, code) => {
    const waits: number[] = [];
    const onRetry = ({ waitMs }: { waitMs: number }): void => void waits.push(waitMs);
    const { lethe } = client([refused(status, code, {}, { 'retry-after': '7' }), ok({ stored: true })], {
      onRetry,
    });
    expect(await outcome(lethe.data.submit(values))).toEqual({ stored: true });
    expect(waits).toHaveLength(1);
    expect(waits[0]).toBeGreaterThanOrEqual(7_000);
    expect(waits[0]).toBeLessThan(7_600);
  });

  it('is the error at once if the time of the call ends before', async () => {
    const { lethe, requests } = client([refused(429, 'rate_limit_exceeded', {}, { 'retry-after': '31' })]);
    const error = await lethe.data.submit(values).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RateLimitedError);
    expect(error).toMatchObject({ retryAfterSeconds: 31, status: 429, requestId: 'r1' });
    expect(requests).toHaveLength(1);
  });

  it('repeats a DELETE after 429 alone', async () => {
    const limited = refused(429, 'rate_limit_exceeded', {}, { 'retry-after': '1' });
    const { lethe, requests } = client([limited, refused(503, 'service_unavailable')]);
    expect(await outcome(lethe.servers.delete({ guild_id: who.guild_id }))).toBeInstanceOf(UnavailableError);
    expect(requests).toHaveLength(2);
  });

  it('is known from a proxy that speaks HTML', async () => {
    const page: Step = () => new Response('<html>', { status: 502 });
    const { lethe } = client([page, ok({ status: 'none' })]);
    expect(await outcome(lethe.consents.status(who))).toEqual({ status: 'none' });
  });
});

describe('the time of a call', () => {
  it('ends a call whose fetch neither answers nor notices its signal', async () => {
    const { lethe } = client([silent], { timeoutMs: 1_000 });
    const error = await outcome(lethe.data.submit(values));
    expect(error).toBeInstanceOf(TimeoutError);
    expect((error as Error).message).toMatch('1000 ms');
  });

  it('ends a call whose key never comes, and so does the signal of the caller', async () => {
    const { lethe, requests } = client([ok()], { key: () => new Promise(() => undefined), timeoutMs: 1_000 });
    const error = await outcome(lethe.bots.me());
    expect(error).toBeInstanceOf(TimeoutError);
    expect((error as Error).message).toBe(
      'The function of key has not answered within 1000 ms; nothing was sent.',
    );
    const unanswered = client([silent], { key: () => 'sk_live_x' });
    expect(await outcome(unanswered.lethe.bots.me())).toMatchObject({
      message: expect.stringContaining('Whether it took effect is unknown'),
    });
    const [stop, reason] = [new AbortController(), new Error('the bot stops')];
    const call = lethe.bots.me({}, { signal: stop.signal });
    const settled = call.catch((error: unknown) => error);
    stop.abort(reason);
    expect(await settled).toBe(reason);
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
    expect(requests).toEqual([]);
  });

  it('covers all attempts: a wait that would exceed it is not begun', async () => {
    jest.setSystemTime(0);
    const slow: Step = async () => {
      await new Promise((resolve) => setTimeout(resolve, 400));
      throw new TypeError('fetch failed');
    };
    const { lethe } = client([slow], { timeoutMs: 1_000, retries: 100 });
    const endedAt = lethe.data.submit(values).catch(() => Date.now());
    expect(await outcome(endedAt)).toBeLessThanOrEqual(1_000);
  });

  it.each([-3_600_000, 3_600_000])(
    'is not that of the system, which is set by %i ms during it',
    async (ms) => {
      const jumps: Step = (request) => {
        jest.setSystemTime(Date.now() + ms);
        return fails()(request);
      };
      const onResponse = jest.fn();
      const answers: Step = () => {
        jest.setSystemTime(Date.now() + ms);
        return Response.json({ success: true, data: { status: 'none' } });
      };
      const { lethe, requests } = client([jumps, jumps, answers], { onResponse });
      expect(await outcome(lethe.consents.status(who))).toEqual({ status: 'none' });
      expect(requests).toHaveLength(3);
      expect(onResponse).toHaveBeenCalledWith(expect.objectContaining({ attempt: 3, durationMs: 0 }));
    },
  );

  it('does not begin a wait that would exceed it where the time of the system is set back', async () => {
    const jumps: Step = () => {
      jest.advanceTimersByTime(900);
      jest.setSystemTime(Date.now() - 3_600_000);
      return Response.json({}, { status: 503, headers: { 'retry-after': '1' } });
    };
    const { lethe } = client([jumps], { timeoutMs: 1_000 });
    expect(await outcome(lethe.consents.status(who))).toBeInstanceOf(UnavailableError);
  });

  it('ends with the signal of the caller: before a request, during one, and during a wait', async () => {
    const reason = new Error('the bot stops');
    const { lethe, requests } = client([silent, fails()]);
    await expect(lethe.consents.status(who, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(requests).toHaveLength(0);
    for (const count of [1, 2]) {
      const stop = new AbortController();
      const call = lethe.consents.status(who, { signal: stop.signal });
      const settled = call.catch((error: unknown) => error);
      await new Promise((resolve) => setImmediate(resolve));
      stop.abort(reason);
      expect(await settled).toBe(reason);
      expect(requests).toHaveLength(count);
    }
  });
});

describe('the salts of an erasure', () => {
  const busy = refused(409, 'conflict', { reason: 'deletion_in_progress' });
  const done = (id: string) => ({ request_id: id, guild_id: '2', certificate_salt: `salt of ${id}` });

  it('are fetched by a repeat that meets its own first attempt, which was lost', async () => {
    const { lethe, keys } = client([cut, busy, ok({ certificate_salt: 'salt' })]);
    expect(await outcome(lethe.privacy.forget(who))).toEqual({ certificate_salt: 'salt' });
    expect(new Set(keys()).size).toBe(1);
  });

  it('are not waited for where another erasure is under way, or another act meets one', async () => {
    const first = client([busy]);
    expect(await outcome(first.lethe.privacy.forget(who))).toBeInstanceOf(ConflictError);
    expect(first.requests).toHaveLength(1);
    const submit = client([cut, busy]);
    expect(await outcome(submit.lethe.data.submit(values))).toBeInstanceOf(ConflictError);
    expect(submit.requests).toHaveLength(2);
  });

  it('of the guilds that are done are in the error of the last attempt', async () => {
    const unavailable = (requests?: object[]): Step =>
      refused(503, 'service_unavailable', requests === undefined ? {} : { requests });
    const { lethe } = client(
      [unavailable([done('a')]), unavailable([done('a'), done('b')]), unavailable(), fails()],
      { retries: 3 },
    );
    const error = await outcome(lethe.privacy.forgetEverywhere({ user_id: who.user_id }));
    expect(error).toBeInstanceOf(NetworkError);
    expect((error as LetheError).details['requests']).toEqual([done('a'), done('b')]);
  });

  it('are in the error of a time that ends during a wait', async () => {
    const requests = [done('a')];
    const { lethe } = client([refused(503, 'service_unavailable', { requests }), silent], {
      timeoutMs: 20_000,
    });
    const error = await outcome(lethe.privacy.forgetEverywhere({ user_id: who.user_id }));
    expect(error).toBeInstanceOf(TimeoutError);
    expect((error as LetheError).details).toEqual({ requests });
  });

  it.each([
    ['a wait', []],
    ['an attempt after it', [silent]],
  ])('are in the last error where the caller ends the call during %s', async (_when, steps) => {
    const requests = [done('a')];
    const [stop, reason] = [new AbortController(), new Error('the bot stops')];
    const unavailable = refused(503, 'service_unavailable', { requests }, { 'retry-after': '2' });
    const { lethe } = client([unavailable, ...steps]);
    const call = lethe.privacy.forgetEverywhere({ user_id: who.user_id }, { signal: stop.signal });
    const settled = call.catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(steps.length * 4_000);
    stop.abort(reason);
    expect(await settled).toMatchObject({ status: 503, details: { requests }, cause: reason });
  });
});

describe('the wait for an erasure', () => {
  const processing = ok({ status: 'processing' });

  it('lasts beyond the minute of the limiter, with pauses that grow between the looks', async () => {
    const limited = refused(429, 'rate_limit_exceeded', {}, { 'retry-after': '31' });
    const steps = [...Array<Step>(4).fill(processing), limited, ok({ status: 'completed' })];
    const { lethe, requests } = client(steps);
    const spread = jest.spyOn(Math, 'random').mockReturnValue(0);
    const begunMs = jest.now();
    expect(await outcome(lethe.privacy.waitFor('id'))).toEqual({ status: 'completed' });
    expect(requests).toHaveLength(6);
    spread.mockRestore();
    // The fake clock of the timers, which nothing else moves.
    expect(jest.now() - begunMs).toBe((1 + 2 + 3 + 3 + 31) * 1_000);
  });

  it('ends with its own time', async () => {
    const { lethe } = client([processing]);
    expect(await outcome(lethe.privacy.waitFor('id', { timeoutMs: 10_000 }))).toBeInstanceOf(TimeoutError);
  });
});

describe('a signal that lasts longer than a call', () => {
  const stop = new AbortController();
  const { signal } = stop;
  const listeners = (): number => getEventListeners(signal, 'abort').length;
  const text = (body: string | null): Step => {
    return () => new Response(body);
  };
  const envelope = '{"success":true,"data":{"a":1}}';
  const stream = (step: Step) => client([step]).lethe.data.exportStream(who, { signal });

  it('has no listener more after a call, whatever became of it', async () => {
    for (const step of [ok(), refused(404, 'not_found'), cut, fails()]) {
      const { lethe } = client([step], { retries: 1 });
      await outcome(lethe.consents.status(who, { signal }));
    }
    expect(listeners()).toBe(0);
  });

  it('has none more after a stream that was read, cut, or left early', async () => {
    expect(await new Response(await stream(text(envelope))).text()).toBe('{"a":1}');
    await expect(new Response(await stream(cut)).text()).rejects.toBeInstanceOf(NetworkError);
    await expect(stream(text(null))).rejects.toBeInstanceOf(NetworkError);
    expect(listeners()).toBe(0);
    const endless: Step = () => new Response(new ReadableStream());
    const left = await stream(endless);
    expect(listeners()).toBe(1);
    await left.cancel();
    expect(listeners()).toBe(0);
    for await (const line of client([text('a\nb\n')]).lethe.audit.export({}, { signal }))
      if (line === 'a') break;
    const { lethe } = client([ok({ id: '1' }), text('# Record')]);
    expect(await lethe.bots.processingRecordText({}, { signal })).toBe('# Record');
    for (const name of ['processingRecordText', 'reviewDossierText'] as const) {
      const { bots } = client([ok({ id: '1' }), cut]).lethe;
      await expect(bots[name]({}, { signal })).rejects.toMatchObject({ code: 'network_error' });
    }
    expect(listeners()).toBe(0);
  });
});

describe('an error', () => {
  it.each([
    [400, 'invalid_request', InvalidRequestError, { fields: [{ field: 'name', message: 'is missing' }] }],
    [401, 'unauthorized', UnauthorizedError, {}],
    [403, 'consent_required', ConsentRequiredError, { current_status: 'revoked' }],
    [403, 'processing_refused', ProcessingRefusedError, { reason: 'restriction' }],
    [403, 'suspended', SuspendedError, {}],
    [403, 'insufficient_scope', InsufficientScopeError, { required: 'erase' }],
    [404, 'not_found', NotFoundError, {}],
    [409, 'conflict', ConflictError, { reason: 'bot_exists' }],
    [413, 'payload_too_large', LetheError, {}],
    [500, 'internal_error', LetheError, {}],
  ])(
    'of %i %s has its class and what the service says',
    async (status, code, Class, details: Readonly<Record<string, unknown>>) => {
      const { lethe } = client([refused(status, code, details)]);
      const error = (await outcome(lethe.data.submit(values))) as LetheError;
      expect(error.constructor).toBe(Class);
      expect(error).toMatchObject({ status, code, details, requestId: 'r1', message: `refused: ${code}` });
      expect(error.fields).toEqual(details['fields'] ?? []);
      expect(error.reason).toBe(details['reason']);
      if (error instanceof ConsentRequiredError) expect(error.currentStatus).toBe('revoked');
      if (error instanceof InsufficientScopeError) expect(error.required).toBe('erase');
      const heading = code === 'conflict' ? 'bot_exists' : `${status}-${code}`;
      expect(error.docs).toBe(`@lethe/sdk/errors.md#${heading}`);
    },
  );

  it.each([
    ['a page in HTML', () => new Response('<html>')],
    ['a redirect', () => new Response(null, { status: 301, headers: { location: 'https://x.example' } })],
    ['a list', () => Response.json([])],
  ])('says that %s is no answer of Lethe', async (_name, step) => {
    const { lethe } = client([step]);
    expect(await outcome(lethe.consents.status(who))).toMatchObject({ code: 'unexpected_answer' });
  });
});

describe('hooks', () => {
  it('see every attempt without ids and values, and do not fail a call', async () => {
    const seen: unknown[] = [];
    const onRequest = (attempt: object): void => {
      seen.push(attempt);
      throw new Error('the log is full');
    };
    const trace: ClientOptions['trace'] = async (name, run) => {
      seen.push(name);
      return run();
    };
    const onResponse = (about: object): void => void seen.push(about);
    const onRetry = (about: object): void => void seen.push(about);
    const { lethe } = client([fails(), ok()], { onRequest, onResponse, onRetry, trace });
    await outcome(lethe.data.export(who));
    const route = 'GET /data/export/{user_id}';
    expect(seen).toEqual([
      route,
      { route, attempt: 1 },
      { route, attempt: 1, waitMs: expect.any(Number), error: expect.any(NetworkError) },
      { route, attempt: 2 },
      { route, attempt: 2, status: 200, durationMs: expect.any(Number), requestId: undefined },
    ]);
    expect(JSON.stringify(seen)).not.toContain(who.user_id);
  });
});

describe('a trace', () => {
  const traces: [string, (run: () => Promise<unknown>) => unknown][] = [
    ['returns nothing', (run) => void run()],
    ['answers nothing', async (run) => void (await run())],
    ['runs the call twice', async (run) => [await run(), await run()][1]],
    ['never runs it', () => undefined],
  ];

  it.each(traces)('that %s sends the call once, which has its answer', async (_how, trace) => {
    const given = ((_name: string, run: () => Promise<unknown>) => trace(run)) as ClientOptions['trace'];
    const { lethe, requests } = client([ok({ id: 'x' })], { trace: given });
    expect(await outcome(lethe.categories.delete('profile'))).toEqual({ id: 'x' });
    expect(requests).toHaveLength(1);
  });

  it.each(traces.slice(0, 2))('that %s hides no error of the call', async (_how, trace) => {
    const given = ((_name: string, run: () => Promise<unknown>) => trace(run)) as ClientOptions['trace'];
    const { lethe, requests } = client([refused(404, 'not_found')], { trace: given });
    expect(await outcome(lethe.categories.delete('profile'))).toBeInstanceOf(NotFoundError);
    expect(requests).toHaveLength(1);
  });

  it('that fails without its call ends no process', async () => {
    const trace: ClientOptions['trace'] = (_name, run) => {
      void run();
      return new Promise((_resolve, reject) => setTimeout(() => reject(new Error('of the trace')), 5_000));
    };
    const { lethe } = client([refused(404, 'not_found')], { trace });
    expect(await outcome(lethe.categories.delete('profile'))).toMatchObject({ message: 'of the trace' });
  });
});

describe('a number among the options', () => {
  const IMPOSSIBLE = [NaN, Infinity, -1, 2 ** 31, '30' as unknown as number];

  it.each(['timeoutMs', 'retries', 'consentCacheMs'])(
    'is refused by its name where it is none: %s',
    async (name) => {
      for (const value of IMPOSSIBLE) {
        expect(() => client([ok()], { [name]: value })).toThrow(RangeError);
        expect(() => client([ok()], { [name]: value })).toThrow(name);
      }
    },
  );

  it.each(['timeoutMs', 'retries'])(
    'is refused by its name in a call, before it is sent: %s',
    async (name) => {
      for (const value of IMPOSSIBLE) {
        const { lethe, requests } = client([ok()]);
        await expect(lethe.bots.me({}, { [name]: value })).rejects.toThrow(name);
        await expect(lethe.privacy.waitFor('id', { [name]: value })).rejects.toThrow(name);
        expect(requests).toHaveLength(0);
      }
    },
  );

  it('has a webhook secret, or the receiver does not start', () => {
    for (const secrets of [undefined, '', 'sk_live_x', [], ['']])
      expect(() => createWebhookHandler({ secrets: secrets as string, on: {} })).toThrow(
        /environment variable/,
      );
  });

  it('is refused for a webhook where it would admit every recorded call', () => {
    for (const toleranceSeconds of IMPOSSIBLE)
      expect(() => createWebhookHandler({ secrets: 'whsec_', on: {}, toleranceSeconds })).toThrow(
        'toleranceSeconds',
      );
    for (const seconds of IMPOSSIBLE) expect(() => new ReplayCache({ seconds })).toThrow('seconds');
  });
});
