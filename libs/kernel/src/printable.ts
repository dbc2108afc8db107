/** What a terminal obeys, or orders a text by. Line ends, tabs, and the joiners of letters and emoji stay. */
const OBEYED = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/**
 * A text of somebody else for a terminal: what the terminal would obey is written as `\u001b`. JSON reads this form inside
 * its strings, so that the text of a JSON value keeps its meaning.
 */
export function printable(text: string): string {
  return text.replace(OBEYED, (found) =>
    found
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
