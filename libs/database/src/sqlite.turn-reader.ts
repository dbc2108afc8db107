import { databaseUnavailable } from './database-faults';
import type { SqliteConnection } from './sqlite.tx';
import type { SqlValue } from './tx';

/**
 * Reads of one statement each. Those of one turn of the event loop share a snapshot, since taking and giving back the
 * lock costs as much as the read. A commit of this process, the only writer of the file, ends the snapshot at once,
 * so that nobody reads what was before an answer that has been given.
 */
export class SqliteTurnReader {
  private open = false;
  private closed = false;
  private readonly end = (): void => this.endTurn();

  constructor(readonly connection: SqliteConnection) {}

  get(sql: string, values: readonly SqlValue[]): unknown {
    if (this.closed) throw databaseUnavailable();
    if (!this.open) {
      // Of a turn that could not be ended: nobody may read by its snapshot any more.
      if (this.connection.database.inTransaction) this.connection.prepared('ROLLBACK').run();
      this.connection.prepared('BEGIN').run();
      this.open = true;
      setImmediate(this.end);
    }
    return this.connection.prepared(sql).get(...values);
  }

  /** Nothing is read any more: the connection can be closed in the same turn. */
  close(): void {
    this.endTurn();
    this.closed = true;
  }

  /** Never throws: who has committed is to be told so, whatever becomes of the reads beside it. */
  endTurn(): void {
    if (!this.open) return;
    this.open = false;
    try {
      this.connection.prepared('COMMIT').run();
    } catch {
      // The next turn ends it.
    }
  }
}
