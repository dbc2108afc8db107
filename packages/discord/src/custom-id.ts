import { LIMITS } from './reply';

/** The version of the ids. A message of another version is answered with the advice to begin again. */
const VERSION = '1';

/** What the components of the messages do. */
export const ACTS = {
  page: 'p',
  choose: 'c',
  agree: 'a',
  agreeToChosen: 's',
  decline: 'n',
  withdraw: 'w',
  withdrawAll: 'x',
  forget: 'f',
  keep: 'k',
  choice: 'l',
  restrict: 'r',
  unrestrict: 'u',
  object: 'o',
  objectNow: 'j',
} as const;

export type Act = (typeof ACTS)[keyof typeof ACTS];

export interface CustomId {
  readonly act: string;
  readonly parts: readonly string[];
}

/** The state between two messages. It names no user: the one who presses is the one who acts. */
export function customId(act: Act, ...parts: readonly (string | number)[]): string {
  const id = [`lethe${VERSION}`, act, ...parts].join(':');
  if (id.length > LIMITS.customId) throw new RangeError(`A custom_id has ${id.length} characters: ${id}`);
  return id;
}

export const isOurs = (id: string): boolean => /^lethe\d+:/.test(id);

/** The state in an id of this version. */
export function parseCustomId(id: string): CustomId | undefined {
  const [head, act = '', ...parts] = id.split(':');
  return head === `lethe${VERSION}` ? { act, parts } : undefined;
}

/** Some of up to 50 things by their places, as a short text. */
export const maskOf = (places: readonly number[]): string =>
  places.reduce((mask, place) => mask | (1n << BigInt(place)), 0n).toString(36);

/** The places in a mask, below `count`. */
export function placesOf(mask: string, count: number): number[] {
  if (!/^[0-9a-z]{1,12}$/.test(mask)) return [];
  let bits = 0n;
  for (const digit of mask) bits = bits * 36n + BigInt(parseInt(digit, 36));
  return Array.from({ length: count }, (_, place) => place).filter((place) => (bits >> BigInt(place)) & 1n);
}
