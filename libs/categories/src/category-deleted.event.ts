import type { Tx } from '@app/database';

/** Rows that one listener removes within one unit at most, so that nobody else waits for a category of millions. */
const BATCH = 500;

/**
 * A category is about to be undeclared. Whoever stores anything under it removes up to `batch` rows of it within `tx`
 * and says so when that was not all: the event is then published again, in a unit of its own, before the declaration goes.
 */
export class CategoryDeleted {
  readonly batch = BATCH;
  private rest = false;

  constructor(
    readonly tx: Tx,
    readonly botId: string,
    readonly key: string,
  ) {}

  get hasMore(): boolean {
    return this.rest;
  }

  /** A listener has removed `rows`; a full batch means that there may be more. */
  removed(rows: number): void {
    if (rows >= this.batch) this.rest = true;
  }
}
