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
    // A Date has become its text, or null where it is no time.
    const what = withoutJson(this[name]);
    if (what !== undefined) throw new TypeError(`${path} is ${what}, which JSON cannot hold.`);
    if (typeof value === 'object' && value !== null) paths.set(value, path);
    return value;
  });
}

function withoutJson(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `the number ${value}`;
  // By its tag: it may be of another realm.
  const tag = Object.prototype.toString.call(value);
  if (tag === '[object Map]') return 'a Map';
  if (tag === '[object Set]') return 'a Set';
  return tag === '[object Date]' && Number.isNaN(Number(value)) ? 'a Date without a time' : undefined;
}
