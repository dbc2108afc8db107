import { isIPv6 } from 'node:net';
import { ipv6Groups } from '@app/kernel';
import { RateDecision, RateLimitStore } from '@app/limits';
import type { LetheRequest } from './request-context';
import type { NextFunction, Response } from 'express';

/** Requests per minute of one client address without a valid key, and of the operator. */
export interface RateLimits {
  readonly anonymousLimit: number;
  readonly operatorLimit: number;
}

/** The bucket of the operator. No bot has this id. */
const OPERATOR = 'operator';

/**
 * Counts every request: one bucket per bot over all its routes and keys, one for the operator, or one per client address
 * for requests without a valid key or token. The rate limit guard refuses. A store that fails lets the request pass uncounted.
 */
export function countRate(store: RateLimitStore, { anonymousLimit, operatorLimit }: RateLimits) {
  return (request: LetheRequest, _response: Response, next: NextFunction): void => {
    const { context } = request;
    const { caller, operator } = context;
    const counted =
      caller !== undefined
        ? store.hit(caller.botId, caller.limit)
        : operator === 'known'
          ? store.hit(OPERATOR, operatorLimit)
          : store.hitStranger(prefixesOf(request.ip), anonymousLimit);
    const proceed = (rate: RateDecision): void => {
      context.rate = rate;
      next();
    };
    if (counted instanceof Promise) counted.then(proceed, () => next());
    else proceed(counted);
  };
}

/** An IPv6 client usually has a /64, so a /64 is one bucket. One with a whole /56 or /48 can flood with many. */
function prefixesOf(address = ''): string[] {
  if (!isIPv6(address)) return [address];
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return [mapped];
  const [withoutZone = ''] = address.split('%');
  const [a = 0, b = 0, c = 0, d = 0] = ipv6Groups(withoutZone);
  return [`${a}:${b}:${c}:${d}/64`, `${a}:${b}:${c}:${d >> 8}/56`, `${a}:${b}:${c}/48`];
}
