import { createHmac, hkdfSync } from 'node:crypto';
import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { Logger } from 'pino';
import type { Degradations, RedisPlace } from '@app/kernel';
import { MemoryRateLimitStore, type RateDecision, RateLimitStore, rateDecision } from './rate-limit.store';
import { type Asked, countWindows, keyUnder, probe } from './rate-limit.script';
import { RedisLink } from './redis-link';

/** 132 bits in base64url: two buckets never have the same digest. */
const DIGEST_CHARACTERS = 22;

/** The name in {@link Degradations} while each process counts alone. */
export const RATE_LIMIT_LOCAL = 'rate_limit_local';

/** A request that waits for its count. */
interface Waiting {
  readonly limit: number;
  /** The decision of this process alone. */
  readonly own: RateDecision;
  readonly decide: (decision: RateDecision) => void;
}

/** Requests of one window that are counted together. */
interface Group extends Asked {
  readonly callers: readonly Waiting[];
}

export interface RedisRateLimitOptions {
  readonly place: RedisPlace;
  /** The key of the digests that name buckets in Redis. All processes of an installation have the same. */
  readonly masterKey: Buffer | undefined;
  readonly local: MemoryRateLimitStore;
  readonly degradations: Degradations;
  readonly logger: Logger;
}

/**
 * Windows in Redis, shared by all processes and measured by the clock of Redis: a limit is exact over all processes.
 * While Redis does not answer, each process applies the limits to its own counts. A request waits at most 50 ms for
 * Redis, and a failure of Redis neither refuses a request nor lets it pass uncounted.
 */
export class RedisRateLimitStore extends RateLimitStore implements OnModuleInit, OnApplicationShutdown {
  private readonly link: RedisLink;
  private readonly local: MemoryRateLimitStore;
  private readonly keyOf: (bucket: string) => string;
  private waiting = new Map<string, Waiting[]>();
  private taking: Group[] = [];
  private fallen = 0;

  constructor({ place, masterKey, local, degradations, logger }: RedisRateLimitOptions) {
    super();
    this.local = local;
    this.keyOf = digestUnder(masterKey);
    this.link = new RedisLink(place, probe, {
      lost(reason) {
        degradations.begin(RATE_LIMIT_LOCAL);
        logger.warn({ reason }, 'Redis does not answer: each process counts rates by itself');
      },
      regained() {
        degradations.end(RATE_LIMIT_LOCAL);
        logger.info('Redis answers again: rates are counted together');
      },
    });
  }

  /** The number of requests that only this process has counted. */
  override get fallbacks(): number {
    return this.fallen;
  }

  onModuleInit(): Promise<void> {
    return this.link.start();
  }

  onApplicationShutdown(): void {
    this.link.close();
  }

  hit(bot: string, limit: number): RateDecision | Promise<RateDecision> {
    return this.shared(bot, limit, this.local.hit(bot, limit));
  }

  take(bot: string, limit: number, more: number): RateDecision | Promise<RateDecision> {
    const own = this.local.take(bot, limit, more);
    if (!this.link.up) return this.fallBack(own);
    return new Promise((decide) => {
      this.flushSoon();
      this.taking.push({
        key: this.keyOf(bot),
        amount: more,
        most: limit,
        callers: [{ limit, own, decide }],
      });
    });
  }

  hitStranger(prefixes: readonly string[], limit: number): RateDecision | Promise<RateDecision> {
    const bucket = this.local.bucketOf(prefixes);
    return this.shared(`address:${bucket}`, limit, this.local.hitStranger([bucket], limit));
  }

  /** The local count continues beside Redis, so that `own` is right when Redis fails. */
  private shared(bucket: string, limit: number, own: RateDecision): RateDecision | Promise<RateDecision> {
    if (!this.link.up) return this.fallBack(own);
    return new Promise((decide) => {
      this.flushSoon();
      const waiting = { limit, own, decide };
      const others = this.waiting.get(bucket);
      if (others === undefined) this.waiting.set(bucket, [waiting]);
      else others.push(waiting);
    });
  }

  private flushSoon(): void {
    if (this.waiting.size === 0 && this.taking.length === 0) setImmediate(() => void this.flush());
  }

  /** Sends one command for all requests of one turn of the event loop; in a cluster, one for each hash tag. */
  private async flush(): Promise<void> {
    const hits = Array.from(this.waiting, ([bucket, callers]): Group => {
      return { key: this.keyOf(bucket), amount: callers.length, most: 0, callers };
    });
    const groups: readonly Group[] = [...hits, ...this.taking];
    this.waiting = new Map();
    this.taking = [];
    try {
      const windows = await this.link.run((client) => countWindows(client, groups));
      for (const [group, { total, endsAtMs, leftMs }] of windows) decide(group, total, endsAtMs, leftMs);
    } catch {
      for (const { callers } of groups) for (const { own, decide } of callers) decide(this.fallBack(own));
    }
  }

  private fallBack(own: RateDecision): RateDecision {
    this.fallen++;
    return own;
  }
}

/** `total` is the count of the window with the whole group, also where it was too many. */
function decide({ amount, most, callers }: Group, total: number, endsAtMs: number, leftMs: number): void {
  const before = total - amount;
  const exceeded = most > 0 && total > most;
  callers.forEach(({ limit, decide: answer }, place) => {
    if (most === 0) answer(rateDecision(limit, before + place + 1, endsAtMs, leftMs));
    else answer({ ...rateDecision(limit, exceeded ? before : total, endsAtMs, leftMs), exceeded });
  });
}

/** Redis holds digests instead of bots and client addresses. Without a master key the digests can be guessed. */
function digestUnder(masterKey: Buffer | undefined): (bucket: string) => string {
  const key = masterKey && Buffer.from(hkdfSync('sha256', masterKey, '', 'lethe rate-limit buckets', 32));
  return (bucket) => {
    const digest = createHmac('sha256', key ?? '')
      .update(bucket)
      .digest('base64url');
    return keyUnder(digest.slice(0, DIGEST_CHARACTERS));
  };
}
