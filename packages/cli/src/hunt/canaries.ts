import { randomBytes, randomInt } from 'node:crypto';

/** A text that is nowhere but where the hunt has brought it. */
export interface Canary {
  /** `a message`, or `a value of CATEGORY`. */
  readonly about: string;
  /** 24 small letters: a hit by chance is as likely as a guess of 76 bits. */
  readonly word: string;
}

/** A made-up user. */
export interface Person {
  readonly user_id: string;
  readonly canaries: readonly Canary[];
  /** The erasures of this person, once they were asked for. */
  readonly requests: readonly string[];
}

/** The time from which an id of Discord counts its milliseconds, and the years in which the ids of a hunt are made. */
const EPOCH_MS = Date.UTC(2015, 0, 1);
const FIRST_MS = Date.UTC(2070, 0, 1) - EPOCH_MS;
/** From here on an id needs the 64th bit, which a signed BIGINT has not: the year 2084. */
const END_MS = 2 ** 41;

/**
 * An id of 19 digits that the platform makes in the years 2070 to 2084, so that no account, message or guild has it. It fits
 * a signed 64-bit number, and is odd and above 2^53: a bot that reads it as a JSON number keeps another one.
 */
export function canaryId(): string {
  const ms = FIRST_MS + randomInt(END_MS - FIRST_MS);
  return ((BigInt(ms) << 22n) | BigInt(randomInt(2 ** 21) * 2 + 1)).toString();
}

const CONSONANTS = 'bcdfghjklmnprstv';
const VOWELS = 'aeiou';

/** A word without blanks, so that an index of words keeps it whole. */
export function canaryWord(): string {
  return [...randomBytes(12)]
    .map((byte) => `${CONSONANTS[byte & 15] ?? ''}${VOWELS[randomInt(VOWELS.length)] ?? ''}`)
    .join('');
}

/** A text around the word with what programs escape: quotes, tags, a backslash, an accent, an emoji. */
export const unusual = (word: string): string => `Zoë "O'${word}" <b>&\\ 🦉`;

interface Field {
  readonly key: string;
  readonly type: string;
}

/** A value of each field that is valid and unusual. */
export function valuesOf(fields: readonly Field[], word: string): Record<string, unknown> {
  const text = unusual(word);
  const values: Readonly<Record<string, unknown>> = {
    ...{ string: text, json: { [word]: [text] }, number: -0.5, boolean: true, date: '2000-02-29' },
  };
  return Object.fromEntries(fields.map(({ key, type }) => [key, values[type] ?? null]));
}
