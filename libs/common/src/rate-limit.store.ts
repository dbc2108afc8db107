import { Clock } from './clock';

/** The window is one minute, as the contract's headers count. */
const WINDOW_MS = 60_000;
/** Buckets kept at most; past it the ended windows go, so that many addresses cannot fill the memory. */
const SWEEP_AT = 100_000;

/** What the limiter says of one request. */
export interface RateDecision {
  readonly limit: number;
  readonly remaining: number;
  /** Unix seconds at which the window ends. */
  readonly resetSeconds: number;
  readonly retryAfterSeconds: number;
  readonly exceeded: boolean;
}

/** Counts requests in fixed windows of a minute; one store may serve many processes. */
export abstract class RateLimitStore {
  /** Counts one request of `bucket`, refused ones too. */
  abstract hit(bucket: string, limit: number): RateDecision | Promise<RateDecision>;
}

interface Window {
  count: number;
  startMs: number;
  readonly endsAtMs: number;
}

/** Windows in the memory of this process, each starting with its first request; measured by the monotonic clock. */
export class MemoryRateLimitStore extends RateLimitStore {
  private readonly windows = new Map<string, Window>();

  constructor(private readonly clock: Clock) {
    super();
  }

  hit(bucket: string, limit: number): RateDecision {
    const nowMs = this.clock.monotonicMs();
    let window = this.windows.get(bucket);
    if (window === undefined || nowMs - window.startMs >= WINDOW_MS) {
      if (this.windows.size >= SWEEP_AT) this.sweep(nowMs);
      window = { count: 0, startMs: nowMs, endsAtMs: this.clock.nowMs() + WINDOW_MS };
      this.windows.set(bucket, window);
    }
    window.count++;
    const leftMs = WINDOW_MS - (nowMs - window.startMs);
    return {
      limit,
      remaining: Math.max(0, limit - window.count),
      resetSeconds: Math.ceil(window.endsAtMs / 1000),
      retryAfterSeconds: Math.max(1, Math.ceil(leftMs / 1000)),
      exceeded: window.count > limit,
    };
  }

  private sweep(nowMs: number): void {
    for (const [bucket, window] of this.windows) {
      if (nowMs - window.startMs >= WINDOW_MS) this.windows.delete(bucket);
    }
  }
}
