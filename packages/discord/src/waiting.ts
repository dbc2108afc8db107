/** Continues a command of the bot. A text that it answers is shown to the user. */
export type Then = () => Promise<unknown>;

/** A command that waits in no process: its user is asked to give it again. */
export const NOWHERE = '-';
/** As long as Discord takes answers to the interaction of the command. */
const WAIT_MS = 15 * 60_000;
export const WAITING_MAX = 1_000;
const ID_BYTES = 4;

interface Kept {
  readonly userId: string;
  readonly untilMs: number;
  /** Undefined once it was taken: a second press says nothing. */
  then: Then | undefined;
}

/** The commands that wait for a consent in this process, for a time and in a number that are bounded. */
export class Waiting {
  private readonly kept = new Map<string, Kept>();

  constructor(private readonly now: () => number) {}

  /** Keeps a command, and answers its id for the buttons. The oldest one gives way where there are too many. */
  add(userId: string, then: Then | undefined): string {
    if (then === undefined) return NOWHERE;
    for (const [id, { untilMs }] of this.kept) if (untilMs <= this.now()) this.kept.delete(id);
    const [oldest] = this.kept.keys();
    if (oldest !== undefined && this.kept.size >= WAITING_MAX) this.kept.delete(oldest);
    const bytes = crypto.getRandomValues(new Uint8Array(ID_BYTES));
    const id = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
    this.kept.set(id, { userId, then, untilMs: this.now() + WAIT_MS });
    return id;
  }

  /** The command, once; `isLost` after a restart, too late, or for another user than its own. */
  take(id: string, userId: string): { then?: Then | undefined; isLost: boolean } {
    const kept = this.kept.get(id);
    if (kept === undefined || kept.untilMs <= this.now() || kept.userId !== userId) return { isLost: true };
    const { then } = kept;
    kept.then = undefined;
    return { then, isLost: false };
  }
}
