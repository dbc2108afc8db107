import { OwnError } from '@app/kernel';
import type { SqliteConnection } from './sqlite.tx';

const TRIES_MAX = 50;

/**
 * The write-ahead log of the data, or of the keys. Deleted text stays in it until it is truncated, which one open
 * snapshot is enough to prevent: after a number of tries that is left to the next truncation, and the operator is told.
 */
export class SqliteLog {
  private readonly waiting: ((truncated: boolean) => void)[] = [];
  private tries = 0;

  constructor(
    private readonly writer: SqliteConnection,
    private readonly onFault: (error: unknown) => void,
    private readonly schema: 'main' | 'keys' = 'main',
  ) {}

  get isTruncationDue(): boolean {
    return this.waiting.length > 0;
  }

  /** Resolves with the next truncation, or false when it was given up; callers that wait together share one. */
  requestTruncation(): Promise<boolean> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** To be called while no transaction is open. Answers false when another try is due. */
  truncate(): boolean {
    const truncated = this.tryOnce();
    if (!truncated && ++this.tries < TRIES_MAX) return false;
    if (!truncated)
      this.onFault(
        new OwnError(
          'The write-ahead log could not be truncated, since a long read is under way: deleted text stays in it until the next truncation',
        ),
      );
    this.tries = 0;
    for (const resolve of this.waiting.splice(0)) resolve(truncated);
    return true;
  }

  private tryOnce(): boolean {
    try {
      const [result] = this.writer.database.pragma(`${this.schema}.wal_checkpoint(TRUNCATE)`) as {
        busy: number;
      }[];
      return result?.busy === 0;
    } catch (error) {
      this.onFault(error);
      return false;
    }
  }
}
