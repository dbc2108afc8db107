import { createParamDecorator, type ExecutionContext, Injectable, type PipeTransform } from '@nestjs/common';
import { ApiError, OwnError } from '@app/kernel';
import { RateLimitStore } from '@app/limits';
import { rateLimitExceeded } from './rate-limit.guard';
import { bucketOf, type LetheRequest, type RequestContext } from './request-context';

/** The requests that the bot of a request may make in this minute. */
export class Quota {
  constructor(
    private readonly store: RateLimitStore,
    private readonly context: RequestContext,
  ) {}

  /**
   * Counts the request as one for each `perRequest` items of its list `field`. It is counted as one already.
   * @throws ApiError 400 with `details.limit` for more items than the bot may send in a minute; 429 for more than it may
   * still send, of which none is counted
   */
  async take(field: string, items: number, perRequest = 1): Promise<void> {
    const { caller } = this.context;
    if (caller === undefined) throw new OwnError('Counted is used on a public route');
    const requests = Math.ceil(items / perRequest);
    const [bucket, limit] = bucketOf(caller, this.context);
    if (requests > limit) throw beyondTier(field, limit * perRequest);
    if (requests <= 1) return;
    // A store that fails lets the request pass uncounted, as in countRate.
    const rate = await Promise.resolve(this.store.take(bucket, limit, requests - 1)).catch(() => undefined);
    if (rate === undefined) return;
    this.context.rate = rate;
    if (rate.exceeded) throw rateLimitExceeded();
  }
}

function beyondTier(field: string, limit: number): ApiError {
  const message = `must hold at most ${limit}: as many as the rate limit of the bot allows in a minute`;
  return new ApiError('invalid_request', `${field} ${message}`, { fields: [{ field, message }], limit });
}

@Injectable()
class QuotaPipe implements PipeTransform<LetheRequest, Quota> {
  constructor(private readonly store: RateLimitStore) {}

  transform({ context }: LetheRequest): Quota {
    return new Quota(this.store, context);
  }
}

const RequestOfQuota = createParamDecorator((_: unknown, context: ExecutionContext) =>
  context.switchToHttp().getRequest<LetheRequest>(),
);

/** The {@link Quota} of the request, on a route that counts as several requests. */
export const Counted = (): ParameterDecorator => RequestOfQuota(QuotaPipe);
