/** Gives turns of the event loop to long work: one waiting piece of work continues in each turn. */
export class Turns {
  private readonly waiting: (() => void)[] = [];

  /** Resolves in a later turn of the event loop, after the work that waits already. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      if (this.waiting.push(resolve) === 1) setImmediate(() => this.give());
    });
  }

  private give(): void {
    this.waiting.shift()?.();
    if (this.waiting.length > 0) setImmediate(() => this.give());
  }
}
