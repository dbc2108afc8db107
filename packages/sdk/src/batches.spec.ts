import { ConsentCache } from './consent-cache';
import { Lethe } from './lethe';
import type { Schemas } from './routes';
import type { CallOptions } from './transport';

/** The key of the first hundred items of `import-1`. */
const PART = '66681e6f7b3540fc6e8a7d38849db50e76a23e27060d0bc365fff9b94d355ce9';
const who = { user_id: '123456789012345678', guild_id: '223456789012345678' };
const item = { ...who, category: 'profile', data: {} };

/** A client of a service that takes so many items of a batch, and what it was sent. */
function client(itemsMax: number, refuse: (count: number) => Response) {
  const sizes: number[] = [];
  const keys: string[] = [];
  const fetch = (async (_url: string, { body, headers }: RequestInit) => {
    keys.push((headers as Record<string, string>)['idempotency-key'] ?? '');
    const { items } = JSON.parse(body as string) as { items: unknown[] };
    sizes.push(items.length);
    if (items.length > itemsMax) return refuse(items.length);
    return Response.json({ success: true, data: { results: items.map(() => ({ ok: true, data: {} })) } });
  }) as typeof globalThis.fetch;
  return { lethe: new Lethe({ url: 'https://lethe.example', fetch }), sizes, keys };
}

const refused = (status: number, code: string, details?: object): Response =>
  Response.json({ success: false, error: { code, message: code, details } }, { status });

async function* many(count: number): AsyncGenerator<typeof item> {
  for (let at = 0; at < count; at++) yield { ...item, user_id: `${100_000_000_000_000_000n + BigInt(at)}` };
}

async function submitted(lethe: Lethe, count: number, options?: CallOptions): Promise<string[]> {
  const users = [];
  for await (const result of lethe.data.submitMany(many(count), options))
    users.push(String(result.item.user_id));
  return users;
}

describe('submitMany', () => {
  it('sends batches of a hundred and answers each item in its order', async () => {
    const { lethe, sizes } = client(100, () => refused(400, 'invalid_request'));
    const users = await submitted(lethe, 250);
    expect(sizes).toEqual([100, 100, 50]);
    expect(users).toEqual([...users].sort());
    expect(new Set(users).size).toBe(250);
  });

  it('sends smaller ones to a bot with a low limit, and where a body would be too large', async () => {
    const low = client(30, () => refused(400, 'invalid_request', { limit: 30 }));
    expect(await submitted(low.lethe, 150)).toHaveLength(150);
    // Other calls of the bot count too. The refusal is one of them, and there is one alone.
    expect(low.sizes).toEqual([100, ...Array<number>(6).fill(15), 10, 15, 15, 15, 5]);
    const lowest = client(1, () => refused(400, 'invalid_request', { limit: 1 }));
    expect(await submitted(lowest.lethe, 3)).toHaveLength(3);
    expect(lowest.sizes).toEqual([3, 1, 1, 1]);
    const large = client(30, () => refused(413, 'payload_too_large'));
    expect(await submitted(large.lethe, 100)).toHaveLength(100);
    expect(large.sizes).toEqual([100, 50, 25, 25, 50, 25, 25]);
  });

  it('makes of a key one for each request, the same ones for the same items', async () => {
    const { lethe, keys, sizes } = client(30, () => refused(400, 'invalid_request', { limit: 30 }));
    await submitted(lethe, 130, { idempotencyKey: 'import-1' });
    expect(sizes).toEqual([100, 15, 15, 15, 15, 15, 15, 10, 15, 15]);
    expect(new Set(keys).size).toBe(10);
    // The Python client makes the same ones.
    expect(keys[0]).toBe(PART);
    const first = [...keys];
    await submitted(lethe, 130, { idempotencyKey: 'import-1' });
    expect(keys).toEqual([...first, ...first]);
    await submitted(lethe, 1, { idempotencyKey: 'x'.repeat(255) });
    expect(keys.at(-1)).toMatch(/^[0-9a-f]{64}$/);
    await submitted(lethe, 1, { idempotencyKey: 'import-2' });
    expect(first).not.toContain(keys.at(-1));
  });

  describe('in a minute in which other calls have left a few', () => {
    /** A service that counts as the limiter does: each request once, and each further item of a batch that fits. */
    function limited(used: number) {
      let count = used;
      const sizes: number[] = [];
      const fetch = (async (_url: string, { body }: RequestInit) => {
        const { items } = JSON.parse(body as string) as { items: unknown[] };
        sizes.push(items.length);
        count += 1;
        const isRefused = items.length > 30 || count + items.length - 1 > 30;
        if (!isRefused) count += items.length - 1;
        const headers = { 'x-ratelimit-remaining': String(Math.max(0, 30 - count)), 'retry-after': '60' };
        if (items.length > 30) return refused(400, 'invalid_request', { limit: 30 });
        if (!isRefused)
          return Response.json({ success: true, data: { results: items.map(() => ({ ok: true })) } });
        const error = { code: 'rate_limit_exceeded', message: 'limited' };
        return Response.json({ success: false, error }, { status: 429, headers });
      }) as typeof globalThis.fetch;
      return { lethe: new Lethe({ url: 'https://lethe.example', fetch }), sizes };
    }

    async function stored(lethe: Lethe, options?: CallOptions): Promise<[stored: number, error: unknown]> {
      let done = 0;
      try {
        for await (const { ok } of lethe.data.submitMany(many(40), options)) done += Number(ok);
      } catch (error) {
        return [done, error];
      }
      return [done, undefined];
    }

    it('stores what fits into it, and says then that the limit is used up', async () => {
      const idle = limited(0);
      expect(await stored(idle.lethe)).toEqual([28, expect.objectContaining({ status: 429 })]);
      expect(idle.sizes).toEqual([40, 15, 15, 13, 2]);
      const busy = limited(20);
      expect(await stored(busy.lethe)).toEqual([8, expect.objectContaining({ status: 429, remaining: 0 })]);
      expect(busy.sizes).toEqual([40, 15, 8, 7]);
    });

    it('keeps the batches of an idempotency key, so that a repeat has the same keys', async () => {
      const { lethe, sizes } = limited(0);
      expect(await stored(lethe, { idempotencyKey: 'import-1' })).toEqual([
        15,
        expect.objectContaining({ status: 429, remaining: 13 }),
      ]);
      expect(sizes).toEqual([40, 15, 15]);
    });
  });

  it('ends with the error of a batch that no size would mend', async () => {
    const { lethe, sizes } = client(0, () => refused(413, 'payload_too_large'));
    await expect(submitted(lethe, 2)).rejects.toMatchObject({ code: 'payload_too_large' });
    expect(sizes).toEqual([2, 1]);
    const wrong = client(0, () => refused(400, 'invalid_request', { fields: [] }));
    await expect(submitted(wrong.lethe, 2)).rejects.toMatchObject({ code: 'invalid_request' });
    expect(wrong.sizes).toEqual([2]);
  });
});

describe('statusMany', () => {
  const statuses = (lethe: Lethe, count: number) =>
    lethe.consents.statusMany(Array.from({ length: count }, () => who));

  it('asks in smaller batches for a bot with a low limit', async () => {
    const { lethe, sizes } = client(5, () => refused(400, 'invalid_request', { limit: 5 }));
    expect(await statuses(lethe, 112)).toHaveLength(112);
    expect(sizes).toEqual([100, ...Array<number>(56).fill(2)]);
    const wrong = client(0, () => refused(400, 'invalid_request', { fields: [] }));
    await expect(statuses(wrong.lethe, 2)).rejects.toMatchObject({ code: 'invalid_request' });
  });
});

describe('the cache of consents', () => {
  type Status = Schemas['ConsentStatusView'];
  const status = (given: Partial<Status>): Status => ({
    status: 'accepted',
    ...who,
    version: '1.0',
    accepted_at: null,
    revoked_at: null,
    declined_at: null,
    ...given,
  });

  it('keeps a consent in force for its time, and nothing else', async () => {
    jest.useFakeTimers({ now: 0 });
    const cache = new ConsentCache(5_000);
    const load = jest.fn().mockResolvedValue(status({ status: 'pending' }));
    await cache.status(who, load);
    load.mockResolvedValue(status({}));
    for (const now of [0, 4_999, 5_000]) {
      jest.setSystemTime(now);
      await cache.status({ ...who, user_id: BigInt(who.user_id) }, load);
    }
    expect(load).toHaveBeenCalledTimes(3);
    jest.useRealTimers();
  });

  it('asks again after the clock was set back, by which what is kept would last longer', async () => {
    jest.useFakeTimers({ now: 3_600_000 });
    const cache = new ConsentCache(5_000);
    const load = jest.fn().mockResolvedValue(status({}));
    await cache.status(who, load);
    jest.setSystemTime(0);
    load.mockResolvedValue(status({ status: 'revoked' }));
    expect(await cache.status(who, load)).toMatchObject({ status: 'revoked' });
    jest.useRealTimers();
  });

  it('does not keep what was read before it was emptied', async () => {
    const cache = new ConsentCache(5_000);
    const load = jest.fn(async () => {
      cache.empty();
      return status({});
    });
    await cache.status(who, load);
    await cache.status(who, load);
    expect(load).toHaveBeenCalledTimes(2);
  });
});
