/**
 * Reads rows in the order of their keys, a page at a time. `read` answers the rows behind `after`, from the first on
 * without it. A page of fewer than `size` rows is the last; with a `size` of 1 the reading ends at an empty page.
 */
export async function* pages<Row>(
  size: number,
  read: (after: Row | undefined) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[], void, undefined> {
  for (let after: Row | undefined, more = true; more;) {
    const page = await read(after);
    if (page.length > 0) yield page;
    after = page.at(-1);
    more = page.length >= size;
  }
}

/** The rows of {@link pages}, one by one. */
export async function* eachOf<Row>(
  size: number,
  read: (after: Row | undefined) => Promise<readonly Row[]>,
): AsyncGenerator<Row, void, undefined> {
  for await (const page of pages(size, read)) yield* page;
}
