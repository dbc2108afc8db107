import { closeSync, fsyncSync, openSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { OwnError } from '@app/kernel';
import { databaseUnavailable } from './database-faults';

const TRIES_MAX = 50;
/** The pause, in milliseconds, before an idle service tries again. */
export const TRUNCATION_PAUSE_MS = 20;

/**
 * Truncates the write-ahead log of a file, in which what was destroyed or deleted remains until then. A reader of what is
 * in the log prevents it.
 */
export class SqliteTruncation {
  private readonly waiting: ((truncated: boolean) => void)[] = [];
  private tries = 0;

  /** `held` is reported when a truncation is given up. */
  constructor(
    private readonly database: Database,
    private readonly onFault: (error: unknown) => void,
    private readonly held: string,
  ) {}

  get isDue(): boolean {
    return this.waiting.length > 0;
  }

  /**
   * Resolves after the next truncation. Simultaneous callers share one.
   * @throws ApiError 503 when it was given up
   */
  request(): Promise<void> {
    return new Promise((resolve, reject) =>
      this.waiting.push((truncated) => (truncated ? resolve() : reject(databaseUnavailable()))),
    );
  }

  /** {@link request} at once. Must be called when nothing of a group waits for its commit. */
  now(): boolean {
    if (!this.tryOnce()) return false;
    this.answerWaiting(true);
    return true;
  }

  /** Must be called between two groups. Returns false when another attempt is due, since a snapshot is open. */
  attempt(): boolean {
    const truncated = this.tryOnce();
    if (!truncated && ++this.tries < TRIES_MAX) return false;
    if (!truncated) this.onFault(new OwnError(this.held));
    this.answerWaiting(truncated);
    return true;
  }

  private answerWaiting(truncated: boolean): void {
    this.tries = 0;
    for (const answer of this.waiting.splice(0)) answer(truncated);
  }

  private tryOnce(): boolean {
    try {
      const [result] = this.database.pragma('main.wal_checkpoint(TRUNCATE)') as { busy: number }[];
      if (result?.busy !== 0) return false;
      this.syncLog();
      return true;
    } catch (error) {
      this.onFault(error);
      return false;
    }
  }

  /** SQLite does not sync a truncation: after a power cut the log would have its former length and content. */
  private syncLog(): void {
    const log = openSync(`${this.database.name}-wal`, 'r+');
    try {
      fsyncSync(log);
    } finally {
      closeSync(log);
    }
  }
}
