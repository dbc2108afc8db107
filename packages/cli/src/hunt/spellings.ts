import { createHash } from 'node:crypto';
import type { Person } from './canaries';

/** Bytes to look for, and what they say about whom. Each has at least 8 bytes. */
export interface Needle {
  readonly bytes: Buffer;
  /** From 1 on, in the order of the state. */
  readonly person: number;
  /** `id`, `a message`, `a value of CATEGORY`. */
  readonly about: string;
  readonly spelling: string;
}

type Spelling = readonly [name: string, spelled: string | Buffer];

/** Every spelling of the ids and texts of the people, each once. */
export function needlesOf(people: readonly Pick<Person, 'user_id' | 'canaries'>[]): Needle[] {
  return people.flatMap(({ user_id: id, canaries }, at) => {
    const all = [
      ...idSpellings(id).map((one) => ['id', ...one] as const),
      ...canaries.flatMap(({ about, word }) => wordSpellings(word).map((one) => [about, ...one] as const)),
    ];
    const seen = new Map<string, Needle>();
    for (const [about, spelling, spelled] of all) {
      const bytes = typeof spelled === 'string' ? Buffer.from(spelled) : spelled;
      const key = bytes.toString('latin1');
      if (!seen.has(key)) seen.set(key, { bytes, person: at + 1, about, spelling });
    }
    return [...seen.values()];
  });
}

function idSpellings(id: string): Spelling[] {
  // What a program keeps that reads the id as a number of JavaScript or JSON.
  const rounded = [String(Number(id)), BigInt(Number(id)).toString()];
  return [
    ...textSpellings(id),
    ...rounded.flatMap((text) =>
      textSpellings(text).map(([name, spelled]) => [`rounded ${name}`, spelled] as const),
    ),
    ...binarySpellings(BigInt(id)),
    ...['md5', 'sha1', 'sha256', 'sha512'].flatMap((name) => digestSpellings(name, id)),
  ];
}

const wordSpellings = (word: string): Spelling[] => [
  ...textSpellings(word),
  ['capitals', word.toUpperCase()],
];

/** The spellings of a text of ASCII. */
function textSpellings(text: string): Spelling[] {
  const bytes = Buffer.from(text);
  const each = (spell: (code: number) => string): string => [...bytes].map(spell).join('');
  const hex = (code: number): string => code.toString(16);
  const big = (code: number): string => hex(code).toUpperCase();
  return [
    ['plain', text],
    // Without the outer NULs both orders of bytes have it.
    ['UTF-16', Buffer.from(text, 'utf16le').subarray(0, -1)],
    ['hex', bytes.toString('hex')],
    ['hex', bytes.toString('hex').toUpperCase()],
    ...base64Spellings(bytes),
    ['JSON-escaped', each((code) => `\\u00${hex(code)}`)],
    ['JSON-escaped', each((code) => `\\u00${big(code)}`)],
    ['URL-encoded', each((code) => `%${hex(code)}`)],
    ['URL-encoded', each((code) => `%${big(code)}`)],
    ['HTML entities', each((code) => `&#${code};`)],
    ['HTML entities', each((code) => `&#x${hex(code)};`)],
    ['HTML entities', each((code) => `&#x${big(code)};`)],
  ];
}

/** Base64 of any text that contains the bytes: what is the same whatever is before and after them, for each of three offsets. */
function base64Spellings(bytes: Buffer): Spelling[] {
  return [0, 1, 2].flatMap((offset): Spelling[] => {
    const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
    const [from, to] = [Math.ceil((offset * 8) / 6), Math.floor((padded.length * 8) / 6)];
    return [
      ['base64', padded.toString('base64').slice(from, to)],
      ['base64', padded.toString('base64url').slice(from, to)],
    ];
  });
}

function binarySpellings(id: bigint): Spelling[] {
  const bytes = (write: (to: Buffer) => unknown): Buffer => {
    const to = Buffer.alloc(8);
    write(to);
    return to;
  };
  return [
    ['64-bit big-endian', bytes((to) => to.writeBigUInt64BE(id))],
    ['64-bit little-endian', bytes((to) => to.writeBigUInt64LE(id))],
    // How InnoDB stores a signed BIGINT.
    ['64-bit with its sign turned', bytes((to) => to.writeBigUInt64BE(id ^ (1n << 63n)))],
    ['floating-point big-endian', bytes((to) => to.writeDoubleBE(Number(id)))],
    ['floating-point little-endian', bytes((to) => to.writeDoubleLE(Number(id)))],
  ];
}

/** A hash of an id without a key is the id for everybody who can try ids. */
function digestSpellings(algorithm: string, id: string): Spelling[] {
  const digest = createHash(algorithm).update(id).digest();
  const name = algorithm.toUpperCase();
  return [
    [`${name} in hex`, digest.toString('hex')],
    [`${name} in hex`, digest.toString('hex').toUpperCase()],
    [`${name} in base64`, digest.toString('base64').split('=')[0] ?? ''],
    [`${name} in base64`, digest.toString('base64url')],
    [name, digest],
  ];
}
