import { Clock } from '@app/kernel';

/** The window of the contract's headers: one minute, in milliseconds. */
export const RATE_WINDOW_MS = 60_000;
/**
 * The maximum of buckets that begin in one window. Later buckets share one, so that many addresses cannot fill the
 * memory.
 */
const BUCKETS_MAX = 200_000;
const OVERFLOW = 'overflow';
/** A larger difference of the clocks, in milliseconds, means that the clock of the machine was set. */
const STEP_MS = 500;

/** The decision of the limiter on one request. */
export interface RateDecision {
  readonly limit: number;
  readonly remaining: number;
  /** The end of the window, in Unix seconds. */
  readonly resetSeconds: number;
  readonly retryAfterSeconds: number;
  readonly exceeded: boolean;
}

/**
 * The decision on request number `count` of a window. `endsAtMs` is its end in milliseconds of the Unix epoch, `leftMs`
 * the time until then.
 */
export function rateDecision(limit: number, count: number, endsAtMs: number, leftMs: number): RateDecision {
  return {
    limit,
    remaining: Math.max(0, limit - count),
    resetSeconds: Math.ceil(endsAtMs / 1000),
    retryAfterSeconds: Math.max(1, Math.ceil(leftMs / 1000)),
    exceeded: count > limit,
  };
}

/** Counts requests in fixed windows of a minute. Several processes can share one store. */
export abstract class RateLimitStore {
  /** The number of requests that were counted by a fallback instead of the configured store. */
  get fallbacks(): number {
    return 0;
  }

  /** Counts one request of `bucket`. Refused requests count too. */
  abstract hit(bucket: string, limit: number): RateDecision | Promise<RateDecision>;
}

interface Window {
  count: number;
  readonly startMs: number;
  /** The end by the clock of the machine, which may be set while the window runs. */
  endsAtMs: number;
}

/**
 * Windows in the memory of this process. A window starts with its first request and is measured by the monotonic clock.
 * The windows are kept in two generations of a minute each: when the newer one is a minute old, every window of the
 * older one has ended.
 */
export class MemoryRateLimitStore extends RateLimitStore {
  private young = new Map<string, Window>();
  private old = new Map<string, Window>();
  private turnedMs = 0;

  constructor(private readonly clock: Clock) {
    super();
  }

  hit(bucket: string, limit: number): RateDecision {
    const nowMs = this.clock.monotonicMs();
    if (nowMs - this.turnedMs >= RATE_WINDOW_MS) this.turn(nowMs);
    const window = this.windowOf(bucket, nowMs);
    window.count++;
    const leftMs = RATE_WINDOW_MS - (nowMs - window.startMs);
    const endsAtMs = this.clock.wallMs() + leftMs;
    if (Math.abs(endsAtMs - window.endsAtMs) > STEP_MS) window.endsAtMs = endsAtMs;
    return rateDecision(limit, window.count, window.endsAtMs, leftMs);
  }

  private windowOf(bucket: string, nowMs: number): Window {
    const known = this.young.get(bucket) ?? this.old.get(bucket);
    if (known !== undefined && nowMs - known.startMs < RATE_WINDOW_MS) return known;
    if (this.young.size >= BUCKETS_MAX && bucket !== OVERFLOW) return this.windowOf(OVERFLOW, nowMs);
    const begun = { count: 0, startMs: nowMs, endsAtMs: this.clock.wallMs() + RATE_WINDOW_MS };
    this.young.set(bucket, begun);
    return begun;
  }

  private turn(nowMs: number): void {
    this.old = nowMs - this.turnedMs >= 2 * RATE_WINDOW_MS ? new Map<string, Window>() : this.young;
    this.young = new Map();
    this.turnedMs = nowMs;
  }
}
