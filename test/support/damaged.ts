/** A text in base64url with another character near its end, of which every bit counts. */
export const damaged = (text: string): string =>
  `${text.slice(0, -4)}${text.at(-4) === 'A' ? 'B' : 'A'}${text.slice(-3)}`;
