import { ApiError } from '@app/kernel';
import type { RateDecision, RateLimitStore } from './rate-limit.store';
import { Quota } from './rate-limit.guard';
import { Caller, type RequestContext } from './request-context';

const DECISION = { limit: 30, remaining: 9, resetSeconds: 0, retryAfterSeconds: 1 };

function quotaOf(take: RateLimitStore['take']) {
  const caller = new Caller('bot', '1', 30, 'key', 15, false, 'key:sk_live_a');
  const context = { caller, counts: { take } as RateLimitStore } as RequestContext;
  return { context, quota: new Quota(context) };
}

describe('the quota of a request', () => {
  it.each([
    [1, 1, []],
    [2, 1, [1]],
    [10, 10, []],
    [11, 10, [1]],
    [30, 1, [29]],
    [300, 10, [29]],
  ])(
    'counts %i items, of which %i are one request, beside the request itself',
    async (items, per, counted) => {
      const more: number[] = [];
      const { quota } = quotaOf((_bot, _limit, count) => {
        more.push(count);
        return { ...DECISION, exceeded: false };
      });
      await quota.take('items', items, per);
      expect(more).toEqual(counted);
    },
  );

  it('shows the decision in the headers of the answer, also when it refuses', async () => {
    for (const exceeded of [false, true]) {
      const decision: RateDecision = { ...DECISION, exceeded };
      const { context, quota } = quotaOf(() => Promise.resolve(decision));
      const taken = await quota.take('items', 5).catch((error: ApiError) => error.code);
      expect([taken, context.rate]).toEqual([exceeded ? 'rate_limit_exceeded' : undefined, decision]);
    }
  });

  it('lets a request pass uncounted when the store fails', async () => {
    const { context, quota } = quotaOf(() => Promise.reject(new Error('away')));
    await quota.take('items', 5);
    expect(context.rate).toBeUndefined();
  });

  it('refuses more than the tier allows in a minute without counting, and names the items that it allows', async () => {
    const { quota } = quotaOf(() => ({ ...DECISION, exceeded: false }));
    for (const [items, per, limit] of [
      [31, 1, 30],
      [301, 10, 300],
    ] as const)
      await expect(quota.take('items', items, per)).rejects.toMatchObject({
        code: 'invalid_request',
        details: { limit, fields: [{ field: 'items' }] },
      });
  });
});
