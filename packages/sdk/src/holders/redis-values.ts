import type { Room } from './store';

type Send = (...args: [string, ...string[]]) => Promise<unknown>;

/** How a value of each type is measured and read. */
const READS: Readonly<Record<string, readonly [size: string, read: string, ...args: string[]]>> = {
  string: ['STRLEN', 'GET'],
  hash: ['HLEN', 'HGETALL'],
  list: ['LLEN', 'LRANGE', '0', '-1'],
  set: ['SCARD', 'SMEMBERS'],
  zset: ['ZCARD', 'ZRANGE', '0', '-1', 'WITHSCORES'],
};

/**
 * The entry of a key in an export; undefined for a key that has ended meanwhile. A value that is too large, and one of
 * another type, is left out of its entry, which says so.
 */
export async function redisValue(
  send: Send,
  key: string,
  { rows, bytes }: Room,
): Promise<object | undefined> {
  const type = String(await send('TYPE', key));
  if (type === 'none') return undefined;
  const reads = READS[type];
  if (reads === undefined) return { key, type, left_out: 'value' };
  const [measure, read, ...args] = reads;
  const size = Number(await send(measure, key));
  if (size > (type === 'string' ? bytes : rows)) return { key, type, size, left_out: 'value' };
  const value = await send(read, key, ...args);
  return { key, type, value: shaped(type, value) };
}

/** Clients answer pairs flat, as pairs, or as an object. */
function shaped(type: string, value: unknown): unknown {
  if ((type !== 'hash' && type !== 'zset') || !Array.isArray(value)) return value;
  const flat = value.flat() as unknown[];
  const pairs = flat.flatMap((name, at): [string, unknown][] =>
    at % 2 === 0 ? [[String(name), flat[at + 1]]] : [],
  );
  return Object.fromEntries(type === 'hash' ? pairs : pairs.map(([name, score]) => [name, scoreOf(score)]));
}

/** A number; the words of Redis for what has no end. */
function scoreOf(score: unknown): number | string {
  const text = String(score).replace('Infinity', 'inf');
  return Number.isFinite(Number(text)) ? Number(text) : text;
}
