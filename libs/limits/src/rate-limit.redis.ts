import { createHash, createHmac, hkdfSync } from 'node:crypto';
import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import type { Degradations } from '@app/kernel';
import {
  MemoryRateLimitStore,
  RATE_WINDOW_MS,
  type RateDecision,
  RateLimitStore,
  rateDecision,
} from './rate-limit.store';
import { RedisLink, type RedisTimes } from './redis-link';

const KEY_PREFIX = 'lethe:rate:';
const PROBE_KEY = `${KEY_PREFIX}probe`;
/** 132 bits in base64url: two buckets never have the same digest. */
const DIGEST_CHARACTERS = 22;

/** The name in {@link Degradations} while each process counts alone. */
export const RATE_LIMIT_LOCAL = 'rate_limit_local';

/**
 * Adds ARGV[i] requests to the window KEYS[i], or begins the window. Where the count would pass a maximum above 0, which is
 * ARGV[#KEYS + i], nothing is added, and the answer is that count. Returns the time of Redis, then count and end of each
 * window. All times are of the clock of Redis. A window with an end beyond one window length was written with another
 * clock.
 */
const COUNT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local answer = { now }
for i, key in ipairs(KEYS) do
  local ends = tonumber(redis.call('HGET', key, 'ends'))
  if not ends or ends <= now or ends > now + ${RATE_WINDOW_MS} then
    ends = now + ${RATE_WINDOW_MS}
    redis.call('DEL', key)
    redis.call('HSET', key, 'ends', ends)
    redis.call('PEXPIREAT', key, ends)
  end
  local most = tonumber(ARGV[#KEYS + i])
  local count = tonumber(redis.call('HGET', key, 'count') or 0) + tonumber(ARGV[i])
  if most == 0 or count <= most then redis.call('HSET', key, 'count', count) end
  answer[2 * i] = count
  answer[2 * i + 1] = ends
end
return answer
`;
const COUNT_SHA = createHash('sha1').update(COUNT).digest('hex');

/** A request that waits for its count. */
interface Waiting {
  readonly limit: number;
  /** The decision of this process alone. */
  readonly own: RateDecision;
  readonly decide: (decision: RateDecision) => void;
}

/** Requests of one window that are counted together. */
interface Group {
  readonly bucket: string;
  readonly amount: number;
  /** They are counted up to this number, or not at all; 0: always. */
  readonly most: number;
  readonly callers: readonly Waiting[];
}

export interface RedisRateLimitOptions {
  readonly url: string;
  /** The key of the digests that name buckets in Redis. All processes of an installation have the same. */
  readonly masterKey: Buffer | undefined;
  readonly local: MemoryRateLimitStore;
  readonly degradations: Degradations;
  readonly logger: Logger;
  readonly times?: RedisTimes;
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

  constructor({ url, masterKey, local, degradations, logger, times }: RedisRateLimitOptions) {
    super();
    this.local = local;
    this.keyOf = digestUnder(masterKey);
    const probe = (client: Redis) => count(client, [PROBE_KEY], [0], [0]);
    const notice = {
      lost(reason: string) {
        degradations.begin(RATE_LIMIT_LOCAL);
        logger.warn({ reason }, 'Redis does not answer: each process counts rates by itself');
      },
      regained() {
        degradations.end(RATE_LIMIT_LOCAL);
        logger.info('Redis answers again: rates are counted together');
      },
    };
    this.link = new RedisLink(url, probe, notice, times);
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
      this.taking.push({ bucket: bot, amount: more, most: limit, callers: [{ limit, own, decide }] });
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

  /** Sends one command for all requests of one turn of the event loop. */
  private async flush(): Promise<void> {
    const hits = Array.from(this.waiting, ([bucket, callers]): Group => {
      return { bucket, amount: callers.length, most: 0, callers };
    });
    const groups: readonly Group[] = [...hits, ...this.taking];
    this.waiting = new Map();
    this.taking = [];
    const keys = groups.map(({ bucket }) => this.keyOf(bucket));
    const amounts = groups.map(({ amount }) => amount);
    const maxima = groups.map(({ most }) => most);
    try {
      const [nowMs = 0, ...windows] = await this.link.run((client) => count(client, keys, amounts, maxima));
      groups.forEach((group, index) => {
        const [total = 0, endsAtMs = 0] = windows.slice(2 * index, 2 * index + 2);
        decide(group, total, endsAtMs, endsAtMs - nowMs);
      });
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

/**
 * Redis loses scripts at a restart, a failover and SCRIPT FLUSH. The script is then sent again.
 * @throws Error for an answer that is not from the script, so that such a Redis is not used.
 */
async function count(client: Redis, keys: string[], amounts: number[], maxima: number[]): Promise<number[]> {
  const given = [...keys, ...amounts, ...maxima];
  const answer = await client.evalsha(COUNT_SHA, keys.length, ...given).catch((error: Error) => {
    if (!error.message.startsWith('NOSCRIPT')) throw error;
    return client.eval(COUNT, keys.length, ...given);
  });
  if (!isCount(answer, amounts)) throw Object.assign(new Error(), { code: 'WRONG_ANSWER' });
  return answer;
}

/** Whether an answer has a time, and for each window a count with the added requests and an end in the next minute. */
function isCount(answer: unknown, amounts: readonly number[]): answer is number[] {
  if (!Array.isArray(answer) || answer.length !== 1 + 2 * amounts.length) return false;
  const [now, ...windows] = answer as unknown[];
  return (
    Number.isSafeInteger(now) &&
    windows.every(Number.isSafeInteger) &&
    amounts.every((amount, at) => {
      const [total, leftMs] = [windows[2 * at] as number, (windows[2 * at + 1] as number) - (now as number)];
      return total >= amount && leftMs > 0 && leftMs <= RATE_WINDOW_MS;
    })
  );
}

/** Redis holds digests instead of bots and client addresses. Without a master key the digests can be guessed. */
function digestUnder(masterKey: Buffer | undefined): (bucket: string) => string {
  const key = masterKey && Buffer.from(hkdfSync('sha256', masterKey, '', 'lethe rate-limit buckets', 32));
  return (bucket) => {
    const digest = createHmac('sha256', key ?? '')
      .update(bucket)
      .digest('base64url');
    return KEY_PREFIX + digest.slice(0, DIGEST_CHARACTERS);
  };
}
