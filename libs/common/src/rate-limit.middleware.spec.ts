import type { Response } from 'express';
import { countRate } from './rate-limit.middleware';
import { RateLimitStore } from './rate-limit.store';
import type { LetheRequest } from './request-context';

describe('countRate', () => {
  it('lets a request pass uncounted when the store fails', async () => {
    class AwayStore extends RateLimitStore {
      hit(): Promise<never> {
        return Promise.reject(new Error('away'));
      }
    }
    const request = { context: {}, ip: '127.0.0.1' } as LetheRequest;
    const passed = await new Promise((resolve) =>
      countRate(new AwayStore(), 1)(request, {} as Response, (error?: unknown) => resolve(error)),
    );
    expect([passed, request.context.rate]).toEqual([undefined, undefined]);
  });
});
