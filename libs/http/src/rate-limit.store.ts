import { Clock } from '@app/kernel';

/**
 * The window of the contract's headers: one minute, in milliseconds. It begins with the whole second of its first request, so
 * that `X-RateLimit-Reset` is its exact end and at most 60 seconds away.
 */
export const RATE_WINDOW_MS = 60_000;
/**
 * The maximum of buckets of strangers that begin in one window. Later buckets share one, so that many addresses cannot
 * fill the memory.
 */
const STRANGERS_MAX = 200_000;
/** New buckets a minute: 64 within one /56, 1,024 within one /48. Later ones share the bucket of the prefix. */
const WITHIN_MAX = 64;
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
  /** Counts one request of a bot. Refused requests count too. */
  abstract hit(bot: string, limit: number): RateDecision | Promise<RateDecision>;

  /**
   * Counts `more` requests of a bot that is counted already, or none of them where fewer are left: then the decision is
   * exceeded, and `remaining` is what is left.
   */
  abstract take(bot: string, limit: number, more: number): RateDecision | Promise<RateDecision>;

  /**
   * Counts one request of a caller without a valid key. `prefixes` are the prefixes of its address, the narrowest first. Bots
   * are never counted with strangers.
   */
  abstract hitStranger(prefixes: readonly string[], limit: number): RateDecision | Promise<RateDecision>;
}

interface Window {
  count: number;
  readonly startMs: number;
  /** The end by the clock of the machine, which may be set while the window runs. */
  endsAtMs: number;
}

/** The windows of one kind of caller, in two generations of a minute each. */
class Windows {
  private young = new Map<string, Window>();
  private old = new Map<string, Window>();
  private turnedMs = 0;

  constructor(private readonly clock: Clock) {}

  /** The number of buckets that have begun in the newer generation. */
  get begun(): number {
    return this.young.size;
  }

  /** The running window of a bucket. */
  find(bucket: string): Window | undefined {
    const nowMs = this.clock.monotonicMs();
    if (nowMs - this.turnedMs >= RATE_WINDOW_MS) this.turn(nowMs);
    const known = this.young.get(bucket) ?? this.old.get(bucket);
    return known !== undefined && nowMs - known.startMs < RATE_WINDOW_MS ? known : undefined;
  }

  hit(bucket: string, limit: number): RateDecision {
    const window = this.find(bucket) ?? this.begin(bucket);
    window.count++;
    return this.decisionOn(window, limit);
  }

  take(bucket: string, limit: number, more: number): RateDecision {
    const window = this.find(bucket) ?? this.begin(bucket);
    const exceeded = window.count + more > limit;
    if (!exceeded) window.count += more;
    return { ...this.decisionOn(window, limit), exceeded };
  }

  private decisionOn(window: Window, limit: number): RateDecision {
    const leftMs = RATE_WINDOW_MS - (this.clock.monotonicMs() - window.startMs);
    const endsAtMs = this.clock.wallMs() + leftMs;
    if (Math.abs(endsAtMs - window.endsAtMs) > STEP_MS) window.endsAtMs = endsAtMs;
    return rateDecision(limit, window.count, window.endsAtMs, leftMs);
  }

  private begin(bucket: string): Window {
    const wallMs = this.clock.wallMs();
    const intoSecondMs = wallMs % 1000;
    const startMs = this.clock.monotonicMs() - intoSecondMs;
    const begun = { count: 0, startMs, endsAtMs: wallMs - intoSecondMs + RATE_WINDOW_MS };
    this.young.set(bucket, begun);
    return begun;
  }

  /** When the newer generation is a minute old, every window of the older one has ended. */
  private turn(nowMs: number): void {
    this.old = nowMs - this.turnedMs >= 2 * RATE_WINDOW_MS ? new Map<string, Window>() : this.young;
    this.young = new Map();
    this.turnedMs = nowMs;
  }
}

/**
 * Windows in the memory of this process, measured by the monotonic clock.
 * Bots and strangers have windows of their own, and the number of strangers is bounded.
 */
export class MemoryRateLimitStore extends RateLimitStore {
  private readonly bots: Windows;
  private readonly strangers: Windows;
  /** The narrower buckets that have begun within each prefix, counted like requests. */
  private readonly within: Windows;

  constructor(clock: Clock) {
    super();
    [this.bots, this.strangers, this.within] = [new Windows(clock), new Windows(clock), new Windows(clock)];
  }

  /** The number of buckets of strangers that have begun in this minute. */
  get strangersBegun(): number {
    return this.strangers.begun;
  }

  hit(bot: string, limit: number): RateDecision {
    return this.bots.hit(bot, limit);
  }

  take(bot: string, limit: number, more: number): RateDecision {
    return this.bots.take(bot, limit, more);
  }

  hitStranger(prefixes: readonly string[], limit: number): RateDecision {
    return this.strangers.hit(this.bucketOf(prefixes), limit);
  }

  /** The bucket of a stranger: the prefix that is counted already, the widest that floods, or the narrowest. */
  bucketOf(prefixes: readonly string[]): string {
    const known = prefixes.find((prefix) => this.strangers.find(prefix) !== undefined);
    if (known !== undefined) return known;
    if (this.strangers.begun >= STRANGERS_MAX) return OVERFLOW;
    const flooded = prefixes.findLastIndex(
      (prefix, width) => width > 0 && this.within.hit(prefix, WITHIN_MAX * 16 ** (width - 1)).exceeded,
    );
    return prefixes[Math.max(0, flooded)] ?? OVERFLOW;
  }
}
