/** A piece of work gives other work its turn of the event loop after this time, in milliseconds. */
const TURN_MS = 5;

/** Gives turns of the event loop to long work: one waiting piece of work continues in each turn. */
export class Turns {
  private readonly waiting: (() => void)[] = [];

  /** Resolves in a later turn of the event loop, after the work that waits already. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      if (this.waiting.push(resolve) === 1) setImmediate(() => this.give());
    });
  }

  /**
   * The results of `work` for each item. Between the items other work has its turn. `begunMs` is when the work of this turn
   * began.
   */
  async map<Item, Result>(
    items: readonly Item[],
    work: (item: Item, at: number) => Result,
    begunMs = performance.now(),
  ): Promise<Result[]> {
    const results: Result[] = [];
    for (const [at, item] of items.entries()) {
      if (performance.now() - begunMs > TURN_MS) {
        await this.next();
        begunMs = performance.now();
      }
      results.push(work(item, at));
    }
    return results;
  }

  private give(): void {
    this.waiting.shift()?.();
    if (this.waiting.length > 0) setImmediate(() => this.give());
  }
}
