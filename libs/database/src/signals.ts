/**
 * Short messages between the processes of one database. Every other process receives a message within milliseconds, or
 * it is lost: a receiver must also poll the database. Sending never blocks and never fails.
 */
export abstract class Signals {
  /**
   * Sends a message to all other processes; call it after the commit. Equal messages of one turn of the event loop are
   * sent once.
   */
  abstract tell(topic: string, payload: string): void;

  /** Registers `listener` for messages of other processes about the topic. */
  abstract on(topic: string, listener: (payload: string) => void): void;

  /** Registers `listener` for times when messages may have been lost: the loss of the connection, and its return. */
  abstract onGap(listener: () => void): void;

  /** Whether messages of other processes arrive now. Always true for an engine with a single process. */
  abstract readonly isConnected: boolean;
}

/** For an engine with a single process: there is no receiver. */
export class NoSignals extends Signals {
  readonly isConnected = true;
  tell(): void {}
  on(): void {}
  onGap(): void {}
}

export const NO_SIGNALS: Signals = new NoSignals();
