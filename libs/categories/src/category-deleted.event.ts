import type { Tx } from '@app/database';

/** A category is no longer declared; whoever stores values under it removes them within `tx`. */
export class CategoryDeleted {
  constructor(
    readonly tx: Tx,
    readonly botId: string,
    readonly key: string,
  ) {}
}
