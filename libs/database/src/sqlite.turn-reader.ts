import { databaseUnavailable } from './database-faults';
import type { SqliteConnection } from './sqlite.tx';
import type { SqlValue } from './tx';

/**
 * Reads of one statement each. The reads of one turn of the event loop share a snapshot, since taking and releasing the
 * lock costs as much as a read. A commit of this process, the only writer, ends the snapshot at once: no read returns a
 * state older than an answer that was sent.
 */
export class SqliteTurnReader {
  private open = false;
  private closed = false;
  private readonly end = (): void => this.endTurn();

  constructor(readonly connection: SqliteConnection) {}

  get(sql: string, values: readonly SqlValue[]): unknown {
    if (this.closed) throw databaseUnavailable();
    if (!this.open) {
      // Rolls back the snapshot of a turn that failed to end: no later read may use it.
      if (this.connection.database.inTransaction) this.connection.prepared('ROLLBACK').run();
      this.connection.prepared('BEGIN').run();
      this.open = true;
      setImmediate(this.end);
    }
    return this.connection.prepared(sql).get(...values);
  }

  /** Ends all reads, so that the connection can be closed in the same turn. */
  close(): void {
    this.endTurn();
    this.closed = true;
  }

  /** Never throws: a fault of the reads must not change the answer to a commit. */
  endTurn(): void {
    this.open = false;
    if (!this.connection.database.inTransaction) return;
    try {
      this.connection.prepared('COMMIT').run();
    } catch {
      // The next call ends the snapshot.
    }
  }
}
