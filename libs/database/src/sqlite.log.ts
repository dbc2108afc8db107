import { OwnError } from '@app/kernel';
import type { SqliteConnection } from './sqlite.tx';

const TRIES_MAX = 50;

/**
 * The write-ahead log of the data or of the keys. Deleted text stays in it until it is truncated, and one open snapshot
 * prevents that. After several attempts the work is left to the next truncation, and the operator gets a log line.
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

  /**
   * Resolves to true after the next truncation, to false when it was given up. Simultaneous callers share one
   * truncation.
   */
  requestTruncation(): Promise<boolean> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Must be called while no transaction is open. Returns false when another attempt is due. */
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
