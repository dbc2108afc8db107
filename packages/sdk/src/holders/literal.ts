/** The source of a pattern: the texts as they are, with `between` in each gap. */
export const literal = (texts: readonly string[], between: string): string =>
  texts.map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join(between);
