/** One page of a list that is walked, and never counted. It can have fewer items than asked for, or none. */
export interface WalkPage<Item> {
  readonly items: readonly Item[];
  readonly page_size: number;
  /** Where the next page begins; null on the last one. */
  readonly next: string | null;
}

/** One page of a list. */
export interface Page<Item> extends WalkPage<Item> {
  readonly page: number;
  readonly total_count: number;
  readonly total_pages: number;
}

/** The query of one page. What is undefined or null is not sent. */
interface Place {
  readonly page?: number | undefined;
  readonly page_size: number | undefined;
  readonly after?: string | null | undefined;
}

const PAGE_SIZE_MAX = 100;

/**
 * All items of a list: `for await (const item of …)`. Each item that is there during the whole walk comes exactly once, also
 * while others are added or deleted.
 */
abstract class Listed<Item, P extends WalkPage<Item>> implements AsyncIterable<Item> {
  constructor(protected readonly load: (place: Place) => Promise<P>) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for (let after: string | null | undefined; after !== null;) {
      const { items, next } = await this.load({ page_size: PAGE_SIZE_MAX, after });
      yield* items;
      after = next;
    }
  }

  async toArray(): Promise<Item[]> {
    const all: Item[] = [];
    for await (const item of this) all.push(item);
    return all;
  }
}

/** A list with totals and numbered pages. */
export class Items<Item> extends Listed<Item, Page<Item>> {
  /** One page with the totals. */
  page(page?: number, pageSize?: number): Promise<Page<Item>> {
    return this.load({ page, page_size: pageSize });
  }
}

/** A list that is walked: it has no totals and no numbers of pages. */
export class Walk<Item> extends Listed<Item, WalkPage<Item>> {
  /** The first page, or the one after `next` of the page before. */
  page(after?: string | null, pageSize?: number): Promise<WalkPage<Item>> {
    return this.load({ after, page_size: pageSize });
  }
}
