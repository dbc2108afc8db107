/** A fault in a sealed log. */
export interface LogFault {
  readonly bot_id: string;
  /** Undefined for a fault outside of a batch. */
  readonly batch?: number;
  readonly seq?: number;
  readonly fault:
    | 'event_changed'
    | 'event_missing'
    | 'event_added'
    | 'event_unreadable'
    | 'batch'
    | 'head'
    | 'counts'
    | 'ledger';
  /** For the operator; names no user. */
  readonly message: string;
}

/** The extent of a verified log. */
export interface LogSummary {
  readonly batches: number;
  readonly events: number;
  readonly erased: number;
  /** Events that are not sealed yet. */
  readonly unsealed: number;
  readonly faults: number;
}
