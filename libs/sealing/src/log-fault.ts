/** What is wrong in a log that is sealed. */
export interface LogFault {
  readonly bot_id: string;
  /** Undefined where it is no batch's. */
  readonly batch?: number;
  readonly seq?: number;
  readonly fault:
    'event_changed' | 'event_missing' | 'event_added' | 'event_unreadable' | 'batch' | 'head' | 'counts';
  /** For the operator; names no user. */
  readonly message: string;
}

/** How far a log was looked through. */
export interface LogSummary {
  readonly batches: number;
  readonly events: number;
  readonly erased: number;
  /** Written, but not sealed yet. */
  readonly unsealed: number;
  readonly faults: number;
}
