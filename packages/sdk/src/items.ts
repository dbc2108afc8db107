/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly page: number;
  readonly page_size: number;
  readonly total_count: number;
  readonly total_pages: number;
  /** Where the next page begins; null on the last one. */
  readonly next: string | null;
}

type Load<Item> = (query: { page?: number; page_size?: number; after?: string }) => Promise<Page<Item>>;

const PAGE_SIZE_MAX = 100;

/**
 * All items of a list: `for await (const item of …)`. Each item that is there during the whole walk comes exactly once, also
 * while others are added or deleted.
 */
export class Items<Item> implements AsyncIterable<Item> {
  constructor(private readonly load: Load<Item>) {}

  /** One page with the totals. */
  page(page?: number, pageSize?: number): Promise<Page<Item>> {
    return this.load({
      ...(page !== undefined && { page }),
      ...(pageSize !== undefined && { page_size: pageSize }),
    });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for (let after: string | null | undefined; after !== null;) {
      const { items, next } = await this.load({
        page_size: PAGE_SIZE_MAX,
        ...(after !== undefined && { after }),
      });
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
