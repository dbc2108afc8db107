import type { Tx } from '@app/database';

/** How deliveries of a bot ended, and how often an attempt had failed before, at one time. */
export interface Settled {
  readonly botId: string;
  readonly at: string;
  readonly delivered?: number;
  readonly failed?: number;
  readonly exhausted?: number;
  /** From the event to the first confirmation of its delivery. */
  readonly confirmedAfterMs?: number;
}

/** Attempts or deliveries ended, pings aside; published inside the transaction that stores the ends. */
export class DeliveriesSettled {
  constructor(
    readonly tx: Tx,
    readonly settled: Settled,
  ) {}
}
