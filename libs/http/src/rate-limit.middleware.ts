import { isIPv6 } from 'node:net';
import { addressIn, ipv6Groups } from '@app/kernel';
import { RateDecision, RateLimitStore } from '@app/limits';
import { bucketOf, type LetheRequest } from './request-context';
import type { NextFunction, Response } from 'express';

/**
 * Counts every request: one bucket per bot over all its routes and keys, one for its sessions of the console, or one per client address
 * for requests without a valid key. The rate limit guard refuses. A store that fails lets the request pass uncounted.
 */
export function countRate(store: RateLimitStore, anonymousLimit: number) {
  return (request: LetheRequest, _response: Response, next: NextFunction): void => {
    const { context } = request;
    const counted =
      context.caller === undefined
        ? store.hitStranger(prefixesOf(clientOf(request)), anonymousLimit)
        : store.hit(...bucketOf(context.caller, context));
    const proceed = (rate: RateDecision): void => {
      context.rate = rate;
      next();
    };
    if (counted instanceof Promise) counted.then(proceed, () => next());
    else proceed(counted);
  };
}

/** The address of a client. Where a proxy names none, its callers are counted as the proxy. */
function clientOf({ ip = '', socket }: LetheRequest): string {
  return addressIn(ip) ?? addressIn(socket.remoteAddress ?? '') ?? '';
}

/** An IPv6 client usually has a /64, so a /64 is one bucket. One with a whole /56 or /48 can flood with many. */
function prefixesOf(address: string): string[] {
  if (!isIPv6(address)) return [address];
  const [a = 0, b = 0, c = 0, d = 0] = ipv6Groups(address);
  return [`${a}:${b}:${c}:${d}/64`, `${a}:${b}:${c}:${d >> 8}/56`, `${a}:${b}:${c}/48`];
}
