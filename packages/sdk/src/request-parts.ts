/**
 * The JSON text of a request. `JSON.stringify` alone turns a number that is not finite into null, and a Map into {}: a value that is stored
 * would be removed, and the answer would be a success.
 * @throws TypeError that names the path of such a value
 */
export function bodyOf(wire: object): string {
  const paths = new Map<unknown, string>();
  return JSON.stringify(wire, function (this: Readonly<Record<string, unknown>>, name, value: unknown) {
    const above = paths.get(this) ?? '';
    const path = Array.isArray(this) ? `${above}[${name}]` : above === '' ? name : `${above}.${name}`;
    const what = withoutJson(value, this[name]);
    if (what !== undefined) throw new TypeError(`${path} is ${what}, which JSON cannot hold.`);
    if (typeof value === 'object' && value !== null) paths.set(value, path);
    return value;
  });
}

/** What a value is that JSON cannot hold. `given` is the value before its `toJSON`: that of a Date without a time answers null. */
function withoutJson(value: unknown, given: unknown): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `the number ${value}`;
  // By its tag: it may be of another realm.
  const tag = tagOf(value);
  if (tag === '[object Map]') return 'a Map';
  if (tag === '[object Set]') return 'a Set';
  return value === null && tagOf(given) === '[object Date]' ? 'a Date without a time' : undefined;
}

const tagOf = (value: unknown): string => Object.prototype.toString.call(value);

export function queryOf(wire: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(wire).filter(([, value]) => value !== undefined && value !== null);
  const query = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
  return given.length === 0 ? '' : `?${query.toString()}`;
}

/** @throws TypeError without the text of the key, which belongs in no log */
export function requireKey(key: unknown): void {
  if (typeof key !== 'string' || !/^[\x21-\x7e]+$/.test(key))
    throw new TypeError(
      'key must be the API key alone (sk_live_…): without "Bearer", blanks, line breaks or an ellipsis.',
    );
}

/**
 * The headers as they are given, since an injected `fetch` may read them.
 * @throws TypeError that names a header which cannot be sent. That of `fetch` has its value, and looks like a fault of the network
 */
export function sendable(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(headers)) {
    try {
      new Headers([[name, value]]);
    } catch {
      throw new TypeError(
        `The header ${JSON.stringify(name)} cannot be sent: its name or value has a line break or a character that HTTP refuses.`,
      );
    }
  }
  return headers;
}

/** An id as a part of a path. @throws TypeError for what is none: without a part, or with one of dots, it is the path of something else */
export function inPath(name: string, id: unknown): string {
  if (typeof id !== 'string' && typeof id !== 'bigint')
    throw new TypeError(`${name} must be a string or a bigint, not ${typeof id}.`);
  if (/^\.{0,2}$/.test(`${id}`)) throw new TypeError(`${name} is no id: '${id}'.`);
  return encodeURIComponent(`${id}`);
}
