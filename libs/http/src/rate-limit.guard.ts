import { ExecutionContext, Injectable } from '@nestjs/common';
import { ThrottlerGuard } from '@nestjs/throttler';
import { ApiError } from '@app/kernel';
import type { LetheRequest } from './request-context';

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
