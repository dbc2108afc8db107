import { createHash } from 'node:crypto';
import { RATE_WINDOW_MS } from './rate-limit.store';
import type { RedisClient } from './redis-client';

const KEY_PREFIX = 'lethe:rate:';
const TAGS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'];

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

/** What is asked of one window. */
export interface Asked {
  readonly key: string;
  readonly amount: number;
  /** The requests are counted up to this number, or not at all; 0: always. */
  readonly most: number;
}

/** A window after the requests, by the clock of Redis. */
export interface CountedWindow {
  /** With the requests, also where they were too many. */
  readonly total: number;
  readonly endsAtMs: number;
  readonly leftMs: number;
}

/**
 * The key of a window. Its hash tag is the first character of the digest: a cluster keeps all keys of a tag in one place,
 * so that one command can name several.
 */
export function keyUnder(digest: string): string {
  return `${KEY_PREFIX}{${digest.slice(0, 1)}}${digest.slice(1)}`;
}

/** Counts nothing. In a cluster every tag is asked for, so that one without one of its primaries fails. */
export function probe(client: RedisClient): Promise<unknown> {
  const tags = client.isCluster ? TAGS : TAGS.slice(0, 1);
  return countWindows(
    client,
    tags.map((tag) => ({ key: `${KEY_PREFIX}{${tag}}probe`, amount: 0, most: 0 })),
  );
}

/** Counts in all windows that are asked for, or fails. */
export async function countWindows<T extends Asked>(
  client: RedisClient,
  asked: readonly T[],
): Promise<Map<T, CountedWindow>> {
  const found = new Map<T, CountedWindow>();
  const commands = client.isCluster ? byTag(asked) : [asked];
  await Promise.all(
    commands.map(async (each) => {
      const [nowMs = 0, ...windows] = await count(
        client,
        each.map(({ key }) => key),
        each.map(({ amount }) => amount),
        each.map(({ most }) => most),
      );
      each.forEach((one, at) => {
        const [total = 0, endsAtMs = 0] = windows.slice(2 * at, 2 * at + 2);
        found.set(one, { total, endsAtMs, leftMs: endsAtMs - nowMs });
      });
    }),
  );
  return found;
}

function byTag<T extends Asked>(asked: readonly T[]): T[][] {
  const tags = new Map<string, T[]>();
  for (const one of asked) {
    const tag = one.key.slice(0, KEY_PREFIX.length + '{x}'.length);
    const others = tags.get(tag);
    if (others === undefined) tags.set(tag, [one]);
    else others.push(one);
  }
  return [...tags.values()];
}

/**
 * Redis loses scripts at a restart, a failover and SCRIPT FLUSH. The script is then sent again.
 * @throws Error for an answer that is not from the script, so that such a Redis is not used.
 */
async function count(
  client: RedisClient,
  keys: string[],
  amounts: number[],
  maxima: number[],
): Promise<number[]> {
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
