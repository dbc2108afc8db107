import { createHash, createHmac, hkdfSync } from 'node:crypto';
import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import type { Degradations } from '@app/kernel';
import {
  MemoryRateLimitStore,
  RATE_WINDOW_MS,
  type RateDecision,
  rateDecision,
  RateLimitStore,
} from './rate-limit.store';
import { RedisLink } from './redis-link';

const KEY_PREFIX = 'lethe:rate:';
const PROBE_KEY = `${KEY_PREFIX}probe`;
/** 132 bits in base64url: two buckets never have the same digest. */
const DIGEST_CHARACTERS = 22;

/**
 * Adds ARGV[1] requests to the window KEYS[1], or begins the window. If the count would pass the maximum ARGV[2], where
 * 0 means no maximum, nothing is added, and the count that it would have been is returned. Returns the time of Redis, the
 * count and the end of the window, all by the clock of Redis. A window with an end beyond one window length was written
 * with another clock.
 */
const COUNT = `
local key, amount, most = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ends = tonumber(redis.call('HGET', key, 'ends'))
if not ends or ends <= now or ends > now + ${RATE_WINDOW_MS} then
  ends = now - now % 1000 + ${RATE_WINDOW_MS}
  redis.call('DEL', key)
  redis.call('HSET', key, 'ends', ends)
  redis.call('PEXPIREAT', key, ends)
end
local count = tonumber(redis.call('HGET', key, 'count') or 0) + amount
if most == 0 or count <= most then redis.call('HSET', key, 'count', count) end
return { now, count, ends }
`;
const COUNT_SHA = createHash('sha1').update(COUNT).digest('hex');

interface RedisRateLimitOptions {
  readonly url: string;
  /** The key of the digests that name buckets in Redis. All processes of an installation have the same. */
  readonly masterKey: Buffer | undefined;
  readonly local: MemoryRateLimitStore;
  readonly degradations: Degradations;
  readonly logger: Logger;
}

/**
 * Windows in Redis, shared by all processes and measured by the clock of Redis: a limit is exact over all processes.
 * While Redis does not answer, each process applies the limits to its own counts, which continue beside Redis. A request
 * waits at most 50 ms for Redis, and a failure of Redis neither refuses a request nor lets it pass uncounted.
 */
export class RedisRateLimitStore extends RateLimitStore implements OnModuleInit, OnApplicationShutdown {
  private readonly link: RedisLink;
  private readonly local: MemoryRateLimitStore;
  private readonly keyOf: (bucket: string) => string;
  /** The number of requests that only this process has counted. */
  fallbacks = 0;

  constructor({ url, masterKey, local, degradations, logger }: RedisRateLimitOptions) {
    super();
    this.local = local;
    this.keyOf = digestUnder(masterKey);
    this.link = new RedisLink(url, (client) => count(client, PROBE_KEY, 0), degradations, logger);
  }

  onModuleInit(): Promise<void> {
    return this.link.start();
  }

  onApplicationShutdown(): void {
    this.link.close();
  }

  hit(bot: string, limit: number): Promise<RateDecision> {
    return this.shared(bot, limit, this.local.hit(bot, limit));
  }

  async take(bot: string, limit: number, more: number): Promise<RateDecision> {
    const own = this.local.take(bot, limit, more);
    const total = await this.counted(bot, more, limit);
    if (total === undefined) return own;
    const exceeded = total[1] > limit;
    return { ...decisionOn(limit, total, exceeded ? more : 0), exceeded };
  }

  hitStranger(prefixes: readonly string[], limit: number): Promise<RateDecision> {
    const bucket = this.local.bucketOf(prefixes);
    return this.shared(`address:${bucket}`, limit, this.local.hitStranger([bucket], limit));
  }

  private async shared(bucket: string, limit: number, own: RateDecision): Promise<RateDecision> {
    const total = await this.counted(bucket, 1);
    return total === undefined ? own : decisionOn(limit, total);
  }

  /** Undefined while Redis does not answer. */
  private async counted(bucket: string, amount: number, most?: number): Promise<Count | undefined> {
    const key = this.keyOf(bucket);
    return this.link.run((client) => count(client, key, amount, most)).catch(() => void this.fallbacks++);
  }
}

/** The time of Redis, and the count and the end of a window. */
type Count = readonly [nowMs: number, count: number, endsAtMs: number];

/** The decision for a count of which `refused` requests were not added. */
function decisionOn(limit: number, [nowMs, count, endsAtMs]: Count, refused = 0): RateDecision {
  return rateDecision(limit, count - refused, endsAtMs, endsAtMs - nowMs);
}

/**
 * Redis loses scripts at a restart, a failover and SCRIPT FLUSH. The script is then sent again.
 * @throws Error for an answer that is not from the script, so that such a Redis is not used.
 */
async function count(client: Redis, key: string, amount: number, most = 0): Promise<Count> {
  const answer = await client.evalsha(COUNT_SHA, 1, key, amount, most).catch((error: Error) => {
    if (!error.message.startsWith('NOSCRIPT')) throw error;
    return client.eval(COUNT, 1, key, amount, most);
  });
  if (!isCount(answer, amount)) throw Object.assign(new Error(), { code: 'WRONG_ANSWER' });
  return answer;
}

/** Whether an answer has a time, a count with the added requests and an end in the next minute. */
function isCount(answer: unknown, amount: number): answer is Count {
  if (!Array.isArray(answer) || answer.length !== 3 || !answer.every(Number.isSafeInteger)) return false;
  const [nowMs, total, endsAtMs] = answer as unknown as Count;
  return total >= amount && endsAtMs > nowMs && endsAtMs <= nowMs + RATE_WINDOW_MS;
}

/** Redis holds digests instead of bots and client addresses. They can be guessed if there is no master key. */
function digestUnder(masterKey: Buffer | undefined): (bucket: string) => string {
  const key = masterKey && Buffer.from(hkdfSync('sha256', masterKey, '', 'lethe rate-limit buckets', 32));
  return (bucket) => {
    const digest = createHmac('sha256', key ?? '')
      .update(bucket)
      .digest('base64url');
    return KEY_PREFIX + digest.slice(0, DIGEST_CHARACTERS);
  };
}
