import type { Tx } from '@app/database';
import type { EventRow } from './event-opener';

/** The events of one batch, without what is about a subject. */
export interface SealedBatch {
  readonly botId: string;
  readonly events: readonly Pick<EventRow, 'event_type' | 'source' | 'created_at'>[];
}

/** Batches were stored, each the next one of its log; published inside the transaction that stores them. */
export class BatchesSealed {
  constructor(
    readonly tx: Tx,
    readonly batches: readonly SealedBatch[],
  ) {}
}
