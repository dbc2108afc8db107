import type { Answer } from '../../support/client';
import { isObject } from './person';
import { DIGEST, type Expected } from './reference';

/** Compares answers with the model; a digest is bound to its text at the first comparison. */
export class Agreement {
  private readonly digests = new Map<string, string>();

  /** The place where an answer differs, or undefined. */
  faultOf(answer: Answer, expected: Expected): string | undefined {
    if (answer.status !== expected.status) return `status ${answer.status} instead of ${expected.status}`;
    return expected.data === undefined ? undefined : this.differs('data', answer.data, expected.data);
  }

  private differs(at: string, found: unknown, expected: unknown): string | undefined {
    if (Array.isArray(expected)) {
      if (!Array.isArray(found) || found.length !== expected.length)
        return `${at}: ${show(found)}, not ${show(expected)}`;
      return first(expected.map((each, index) => this.differs(`${at}[${index}]`, found[index], each)));
    }
    if (isObject(expected) && isObject(found)) {
      const whole = /\.data\.[^.]+$/.test(at) && Object.keys(found).length !== Object.keys(expected).length;
      if (whole) return `${at}: ${show(found)}, not ${show(expected)}`;
      return first(
        Object.entries(expected).map(([key, each]) => this.differs(`${at}.${key}`, own(found, key), each)),
      );
    }
    const wanted =
      typeof expected === 'string' && expected.startsWith(DIGEST) ? this.bound(expected, found) : expected;
    return Object.is(found, wanted) ? undefined : `${at}: ${show(found)}, not ${show(wanted)}`;
  }

  /** The text of a digest; a new digest is bound to a text that has none. */
  private bound(digest: string, found: unknown): string {
    const known = this.digests.get(digest);
    if (known !== undefined) return known;
    const isFree = typeof found === 'string' && ![...this.digests.values()].includes(found);
    if (!isFree) return `a text for ${digest}`;
    this.digests.set(digest, found);
    return found;
  }
}

const own = (object: object, key: string): unknown => Object.getOwnPropertyDescriptor(object, key)?.value;
const show = (value: unknown): string => JSON.stringify(value) ?? 'nothing';
const first = (faults: readonly (string | undefined)[]): string | undefined =>
  faults.find((fault) => fault !== undefined);

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const KEY = /sk_live_\w+/g;
/** A receipt: it holds ids, times and a signature. */
const SALT = /(?<="certificate_salt":")[\w-]{22}/g;
/** A cursor is encrypted. */
const CURSOR = /(?<="next":")[\w.-]+/g;
const SIGNED = /[\w-]{20,}\.[\w-]{20,}\.[\w-]{80,}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
const HEADERS = [
  'content-type',
  'cache-control',
  'x-ratelimit-limit',
  'retry-after',
  'www-authenticate',
  'connection',
];

/** Replaces ids by placeholders in the order of their first appearance, and all times and keys by one. */
export class Placeholders {
  private readonly ids = new Map<string, string>();

  /** An answer that has to be equal on every engine, byte for byte. */
  of(answer: Answer): string {
    const headers = HEADERS.map((name) => `${name}: ${answer.header(name) ?? '-'}`);
    return [answer.status, ...headers, this.in(answer.text)].join('\n');
  }

  private in(text: string): string {
    return (
      text
        // On PostgreSQL a job sets it later.
        .replaceAll('"unrecoverable_at":null', '"unrecoverable_at":"<time>"')
        .replace(TIME, '<time>')
        .replace(KEY, '<key>')
        .replace(SIGNED, '<signed>')
        .replace(SALT, '<salt>')
        .replace(CURSOR, '<cursor>')
        .replace(UUID, (id) => {
          const known = this.ids.get(id) ?? `<id ${this.ids.size + 1}>`;
          this.ids.set(id, known);
          return known;
        })
    );
  }
}
