/** How deep a value of an entry may be nested. What is deeper becomes its JSON text, since Lethe bounds the depth of a body. */
const DEPTH_MAX = 8;
/** What Lethe takes in no text: NUL, and half a pair of surrogates. */
const UNCLEAN = /\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/**
 * A value of a driver as JSON has it: a bigint as text, a time as ISO 8601 in UTC, bytes in base64. Characters that no text
 * may have become U+FFFD.
 * @throws RangeError for a value that contains itself
 */
export function jsonSafe(value: unknown, depth = 0): unknown {
  if (value === undefined || value === null || typeof value === 'boolean') return value ?? null;
  if (typeof value === 'string') return clean(value);
  if (typeof value === 'number') return isExact(value) ? value : String(value);
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object') return null;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (value instanceof ArrayBuffer) return Buffer.from(value).toString('base64');
  if (ArrayBuffer.isView(value))
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  if ((value as { _bsontype?: unknown })._bsontype === 'Long')
    return (value as { toString(): string }).toString();
  if (depth >= DEPTH_MAX) return clean(JSON.stringify(jsonSafe(value, -Infinity)));
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') return jsonSafe((toJSON as () => unknown).call(value), depth + 1);
  if (value instanceof Set || Array.isArray(value)) return [...value].map((one) => jsonSafe(one, depth + 1));
  const entries: [unknown, unknown][] = value instanceof Map ? [...value] : Object.entries(value);
  return Object.fromEntries(
    entries
      .filter(([, one]) => typeof one !== 'function')
      .map(([name, one]) => [clean(String(name)), jsonSafe(one, depth + 1)]),
  );
}

/** As everywhere in Lethe a whole number beyond 2⁵³ is text. */
const isExact = (value: number): boolean =>
  Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
const clean = (text: string): string => text.replace(UNCLEAN, '\uFFFD');
