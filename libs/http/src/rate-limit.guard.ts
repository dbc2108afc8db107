import { isIPv6 } from 'node:net';
import { createParamDecorator, ExecutionContext, Injectable } from '@nestjs/common';
import { ThrottlerGuard } from '@nestjs/throttler';
import type { NextFunction, Response } from 'express';
import { addressIn, ApiError, type Config, ipv6Groups, OwnError } from '@app/kernel';
import { type RateDecision, RateLimitStore } from './rate-limit.store';
import type { Caller, LetheRequest, RequestContext } from './request-context';

/** The refusal of a request over its limit. */
export function rateLimitExceeded(): ApiError {
  return new ApiError(
    'rate_limit_exceeded',
    'Too many requests in this minute; wait as long as Retry-After says',
  );
}

/**
 * Refuses requests over the limit that {@link countRate} counts. It replaces the counting of Nest's throttler guard,
 * which counts per route and sends other headers than the contract.
 */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  override canActivate(context: ExecutionContext): Promise<boolean> {
    const { rate } = context.switchToHttp().getRequest<LetheRequest>().context;
    if (rate?.exceeded) throw rateLimitExceeded();
    return ALLOWED;
  }
}

const ALLOWED = Promise.resolve(true);

/** The bucket of the operator. No bot has this id. */
const OPERATOR = 'operator';

/** Requests per minute of one client address without a valid key, and of the operator. */
type RateLimits = Pick<Config, 'anonymousLimit' | 'operatorLimit'>;

/**
 * Counts every request: in one bucket for a bot with all its routes and keys, in another for its sessions of the console,
 * in one for the operator, and by client address for requests without a valid key. {@link RateLimitGuard} refuses. If the
 * store fails, the request passes uncounted.
 */
export function countRate(store: RateLimitStore, { anonymousLimit, operatorLimit }: RateLimits) {
  return (request: LetheRequest, _response: Response, next: NextFunction): void => {
    const { context } = request;
    const { caller, operator } = context;
    context.counts = store;
    const counted =
      operator === 'known'
        ? store.hit(OPERATOR, operatorLimit)
        : caller === undefined
          ? store.hitStranger(prefixesOf(clientOf(request)), anonymousLimit)
          : store.hit(...bucketOf(caller, context));
    const proceed = (rate?: RateDecision): void => {
      context.rate = rate;
      context.isCounted = true;
      next(request.fault);
    };
    if (counted instanceof Promise) counted.then(proceed, () => proceed());
    else proceed(counted);
  };
}

/** The bucket of a caller, and the number of requests that it has in a minute. */
function bucketOf(
  { botId, limit }: Caller,
  { consoleLimit }: RequestContext,
): [bucket: string, limit: number] {
  return consoleLimit === undefined ? [botId, limit] : [`console/${botId}`, consoleLimit];
}

/** The address of a client. The callers of a proxy that names no address are counted as the proxy. */
function clientOf({ ip = '', socket }: LetheRequest): string {
  return addressIn(ip) ?? addressIn(socket.remoteAddress ?? '') ?? '';
}

/** An IPv6 client usually has a /64, so a /64 is one bucket. One with a whole /56 or /48 can flood with many. */
function prefixesOf(address: string): string[] {
  if (!isIPv6(address)) return [address];
  const [a = 0, b = 0, c = 0, d = 0] = ipv6Groups(address);
  return [`${a}:${b}:${c}:${d}/64`, `${a}:${b}:${c}:${d >> 8}/56`, `${a}:${b}:${c}/48`];
}

/** The requests that the bot of a request may make in this minute. */
export class Quota {
  constructor(private readonly context: RequestContext) {}

  /**
   * Counts the request, which is already counted as one, as one for each `perRequest` items of its list `field`.
   * @throws ApiError 400 with `details.limit` for more items than the bot may send in a minute; 429 for more than it may
   * still send, and then none of them is counted
   */
  async take(field: string, items: number, perRequest = 1): Promise<void> {
    const { caller, counts } = this.context;
    if (caller === undefined || counts === undefined) throw new OwnError('Counted is used on a public route');
    const requests = Math.ceil(items / perRequest);
    const [bucket, limit] = bucketOf(caller, this.context);
    if (requests > limit) throw beyondTier(field, limit * perRequest);
    if (requests <= 1) return;
    // If the store fails, the request passes uncounted, as in countRate.
    const rate = await Promise.resolve(counts.take(bucket, limit, requests - 1)).catch(() => undefined);
    if (rate === undefined) return;
    this.context.rate = rate;
    if (rate.exceeded) throw rateLimitExceeded();
  }
}

function beyondTier(field: string, limit: number): ApiError {
  const message = `must hold at most ${limit}: as many as the rate limit of the bot allows in a minute`;
  return new ApiError('invalid_request', `${field} ${message}`, { fields: [{ field, message }], limit });
}

/** The {@link Quota} of the request, on a route that counts as several requests. */
export const Counted = createParamDecorator(
  (_: unknown, context: ExecutionContext) =>
    new Quota(context.switchToHttp().getRequest<LetheRequest>().context),
);
