import { momentMs } from './times';

/** Whether `text` holds neither NUL (PostgreSQL cannot store it) nor a lone surrogate (UTF-8 cannot express it). */
export function isCleanText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** Blanks, controls, marks without a letter, and characters that no one sees, the fillers among the letters too. */
const UNREADABLE = /^[\s\p{Z}\p{Cc}\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}\u2800]*$/u;

/** Whether `text` is clean and has something to read. */
export function isReadableText(text: string): boolean {
  return isCleanText(text) && !UNREADABLE.test(text);
}

/** The length of `text` in code points, the unit of every limit on a text. */
export function codePoints(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++, count++) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800) at++;
  }
  return count;
}

/** At most `max` UTF-16 units of `text`, and a mark where it was longer. A surrogate pair is kept whole or left out. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const endsInPair = (text.charCodeAt(max - 1) & 0xfc00) === 0xd800;
  return `${text.slice(0, endsInPair ? max - 1 : max)}…`;
}

/** A number of things in a message: `1 call`, `2 calls`; with a verb `1 call is`, `2 calls are`. */
export const many = (count: number, one: string, more = `${one}s`): string =>
  `${count} ${count === 1 ? one : more}`;

/** The link to write to an e-mail address (RFC 6068): its last `@` stays as it is. */
export const mailtoOf = (address: string): string =>
  `mailto:${encodeURIComponent(address).replace(/%40(?!.*%40)/, '@')}`;

/** A moment of the years 0 to 9999 as it is stored, so that the order of the texts is that of time; undefined for any other. */
export function storableIso(value: unknown): string | undefined {
  const atMs = momentMs(value);
  const iso = atMs === undefined ? undefined : new Date(atMs).toISOString();
  return iso?.length === 24 ? iso : undefined;
}
