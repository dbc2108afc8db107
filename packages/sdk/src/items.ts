/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly page: number;
  readonly page_size: number;
  readonly total_count: number;
  readonly total_pages: number;
}

type Load<Item> = (query: { page?: number; page_size?: number }) => Promise<Page<Item>>;

const PAGE_SIZE_MAX = 100;

/**
 * All items of a list, page by page: `for await (const item of …)`. An item that moves to the next page meanwhile comes
 * once. Collect with `toArray()` before you delete items of the same list.
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
    let before = new Set<string>();
    for (let page = 1, pages = 1; page <= pages; page++) {
      const { items, total_pages: total } = await this.load({ page, page_size: PAGE_SIZE_MAX });
      pages = total;
      const texts = items.map((item) => JSON.stringify(item));
      for (const [at, item] of items.entries()) if (!before.has(texts[at] ?? '')) yield item;
      before = new Set(texts);
    }
  }

  async toArray(): Promise<Item[]> {
    const all: Item[] = [];
    for await (const item of this) all.push(item);
    return all;
  }
}
