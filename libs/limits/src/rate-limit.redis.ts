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
import { RedisLink } from './redis-link';

const KEY_PREFIX = 'lethe:rate:';
const PROBE_KEY = `${KEY_PREFIX}probe`;
/** 132 bits in base64url: two buckets never have the same digest. */
const DIGEST_CHARACTERS = 22;

/** The name in {@link Degradations} while each process counts alone. */
export const RATE_LIMIT_LOCAL = 'rate_limit_local';

/**
 * Adds ARGV[i] requests to the window KEYS[i], or begins the window. Returns the time of Redis, then count and end of
 * each window. All times are of the clock of Redis. A window with an end beyond one window length was written with
 * another clock.
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
  answer[2 * i] = redis.call('HINCRBY', key, 'count', ARGV[i])
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

export interface RedisRateLimitOptions {
  readonly url: string;
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
  private fallen = 0;

  constructor({ url, masterKey, local, degradations, logger }: RedisRateLimitOptions) {
    super();
    this.local = local;
    this.keyOf = digestUnder(masterKey);
    this.link = new RedisLink(url, (client) => count(client, [PROBE_KEY], [0]), {
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

  hitStranger(prefixes: readonly string[], limit: number): RateDecision | Promise<RateDecision> {
    const bucket = this.local.bucketOf(prefixes);
    return this.shared(`address:${bucket}`, limit, this.local.hitStranger([bucket], limit));
  }

  /** The local count continues beside Redis, so that `own` is right when Redis fails. */
  private shared(bucket: string, limit: number, own: RateDecision): RateDecision | Promise<RateDecision> {
    if (!this.link.up) return this.fallBack(own);
    return new Promise((decide) => {
      if (this.waiting.size === 0) setImmediate(() => void this.flush());
      const waiting = { limit, own, decide };
      const others = this.waiting.get(bucket);
      if (others === undefined) this.waiting.set(bucket, [waiting]);
      else others.push(waiting);
    });
  }

  /** Sends one command for all requests of one turn of the event loop. */
  private async flush(): Promise<void> {
    const batch = this.waiting;
    this.waiting = new Map();
    const requests = [...batch.values()];
    const keys = Array.from(batch.keys(), this.keyOf);
    const amounts = requests.map(({ length }) => length);
    try {
      const [nowMs = 0, ...windows] = await this.link.run((client) => count(client, keys, amounts));
      requests.forEach((group, index) => {
        const [total = 0, endsAtMs = 0] = windows.slice(2 * index, 2 * index + 2);
        const before = total - group.length;
        group.forEach(({ limit, decide }, place) =>
          decide(rateDecision(limit, before + place + 1, endsAtMs, endsAtMs - nowMs)),
        );
      });
    } catch {
      for (const { own, decide } of requests.flat()) decide(this.fallBack(own));
    }
  }

  private fallBack(own: RateDecision): RateDecision {
    this.fallen++;
    return own;
  }
}

/**
 * Redis loses scripts at a restart, a failover and SCRIPT FLUSH. The script is then sent again.
 * @throws Error for an answer that is not from the script, so that such a Redis is not used.
 */
async function count(client: Redis, keys: string[], amounts: number[]): Promise<number[]> {
  const answer = await client.evalsha(COUNT_SHA, keys.length, ...keys, ...amounts).catch((error: Error) => {
    if (!error.message.startsWith('NOSCRIPT')) throw error;
    return client.eval(COUNT, keys.length, ...keys, ...amounts);
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
