/** Holds neither NUL (PostgreSQL cannot store it) nor a lone surrogate (no UTF-8 can express it). */
export function isCleanText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** Length in code points, the unit of every limit on a text. */
export function codePoints(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++, count++) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800) at++;
  }
  return count;
}
