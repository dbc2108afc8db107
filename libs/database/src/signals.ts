/**
 * Short words between the processes of one database: heard by every other process within milliseconds, or lost. Whoever
 * relies on them asks the database now and then all the same. Nobody waits for them, and they never fail anybody.
 */
export abstract class Signals {
  /** Tells all other processes; call it after the commit. The same words of one turn of the event loop are told once. */
  abstract tell(topic: string, payload: string): void;

  /** From now on `listener` hears what other processes tell of the topic. */
  abstract on(topic: string, listener: (payload: string) => void): void;

  /**
   * From now on `listener` is called when words of others may have been missed: when the connection is lost, and when
   * it is there again.
   */
  abstract onGap(listener: () => void): void;

  /** Whether words of others arrive now; always true where there are no others. */
  abstract readonly isConnected: boolean;
}

/** For an engine that one process has to itself: there is nobody to tell. */
export class NoSignals extends Signals {
  readonly isConnected = true;
  tell(): void {}
  on(): void {}
  onGap(): void {}
}

export const NO_SIGNALS: Signals = new NoSignals();
