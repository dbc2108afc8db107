import type { Response } from 'express';
import { type RateDecision, RateLimitStore } from './rate-limit.store';
import { countRate } from './rate-limit.guard';
import type { LetheRequest } from './request-context';

const LIMITS = { anonymousLimit: 1, operatorLimit: 1 };

describe('countRate', () => {
  it('lets a request pass uncounted when the store fails', async () => {
    class AwayStore extends RateLimitStore {
      hit(): Promise<never> {
        return Promise.reject(new Error('away'));
      }
      take(): Promise<never> {
        return this.hit();
      }
      hitStranger(): Promise<never> {
        return this.hit();
      }
    }
    const request = { context: {}, ip: '127.0.0.1' } as LetheRequest;
    const passed = await new Promise((resolve) =>
      countRate(new AwayStore(), LIMITS)(request, {} as Response, (error?: unknown) => resolve(error)),
    );
    expect([passed, request.context.rate]).toEqual([undefined, undefined]);
  });

  it.each([
    ['203.0.113.7', '::ffff:203.0.113.7', true],
    ['2001:db8:1:2::1', '2001:0DB8:1:2:ffff:ffff:ffff:ffff', true],
    ['fe80::1%eth0', 'fe80::2', true],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
    ['203.0.113.7', '203.0.113.8', false],
    ['::1', '1::', false],
    ['198.51.100.2:50001', '198.51.100.2:50002', true],
    ['198.51.100.2:50001', '198.51.100.2', true],
    ['[2001:db8:1:2::1]:50001', '2001:db8:1:2::9', true],
    ['::ffff:cb00:7107', '203.0.113.7', true],
    ['::ffff:cb00:7107', '::ffff:cb00:7108', false],
    ['64:ff9b::203.0.113.7', '203.0.113.7', true],
    ['64:ff9b::198.51.100.30', '64:ff9b::198.51.100.31', false],
    ['unknown', '10.0.0.9', true],
    ['evil-0', 'evil-1', true],
    ['"[2001:db8::1]"', `${'a'.repeat(14_000)}`, true],
    ['203.0.113.7:99999999', '10.0.0.9', true],
  ])('counts %s and %s as one client: %s', (one, other, same) => {
    const buckets: string[] = [];
    class NotingStore extends RateLimitStore {
      hit(): never {
        throw new Error('a stranger is counted as a bot');
      }
      take(): never {
        return this.hit();
      }
      hitStranger([bucket = '']: readonly string[], limit: number): RateDecision {
        buckets.push(bucket);
        return { limit, remaining: 0, resetSeconds: 0, retryAfterSeconds: 1, exceeded: false };
      }
    }
    const count = countRate(new NotingStore(), LIMITS);
    for (const ip of [one, other])
      count(
        { context: {}, ip, socket: { remoteAddress: '::ffff:10.0.0.9' } } as LetheRequest,
        {} as Response,
        () => undefined,
      );
    expect(buckets[0] === buckets[1]).toBe(same);
  });
});
