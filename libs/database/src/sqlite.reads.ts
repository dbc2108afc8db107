import { driverCode, translateFault } from './database-faults';
import type { SqliteTurnReader } from './sqlite.turn-reader';
import { type SqliteConnection, SqliteTx } from './sqlite.tx';
import type { Tx } from './tx';

/**
 * A snapshot of a file begins with the first look into it. The keys first: an older key beside newer data is of no use to
 * anybody, while data whose key is gone looks damaged. What takes long leaves this out, since nothing removes a key from
 * its file for good while somebody looks into it.
 */
const SNAPSHOT = ['SELECT 1 FROM keys.sqlite_master', 'SELECT 1 FROM main.sqlite_master'];

/** Reads on read-only connections of their own: whoever writes to the file holds up none of them. */
export class SqliteReads {
  private turns: Promise<unknown> = Promise.resolve();

  /** `openReader` makes further connections for long snapshots. */
  constructor(
    private readonly reader: SqliteConnection,
    private readonly turnReader: SqliteTurnReader,
    private readonly openReader: () => Promise<SqliteConnection>,
  ) {}

  /** One after the other. */
  read<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const turn = this.turns.then(() => this.readOn(this.reader, work, SNAPSHOT));
    this.turns = turn.catch(() => undefined);
    return turn;
  }

  async get<Row>(sql: string, values: readonly string[]): Promise<Row | undefined> {
    try {
      return this.turnReader.get(sql, values) as Row | undefined;
    } catch (error) {
      throw translateFault(error);
    }
  }

  async snapshot<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const connection = await this.openReader();
    try {
      return await this.readOn(connection, work);
    } finally {
      await connection.dataSource.destroy();
    }
  }

  /** Nobody reads any more what was before a commit. */
  endTurn(): void {
    this.turnReader.endTurn();
  }

  /** Resolves when every {@link read} asked for so far has ended. */
  async drained(): Promise<void> {
    await this.turns;
  }

  async close(): Promise<void> {
    this.turnReader.close();
    for (const { dataSource } of [this.reader, this.turnReader.connection]) await dataSource.destroy();
  }

  /** `first` are statements that are run at once. */
  private async readOn<T>(
    connection: SqliteConnection,
    work: (tx: Tx) => Promise<T>,
    first: readonly string[] = [],
  ): Promise<T> {
    const tx = new SqliteTx(connection);
    try {
      connection.prepared('BEGIN').run();
      for (const sql of first) connection.prepared(sql).get();
      return await work(tx);
    } catch (error) {
      // A unit that writes although it said that it would read is a mistake of its author, no trouble of the engine.
      throw driverCode(error).startsWith('SQLITE_READONLY') ? error : translateFault(error);
    } finally {
      tx.close();
      // It has nothing to commit, and giving a snapshot up does not fail.
      if (connection.database.inTransaction) connection.prepared('ROLLBACK').run();
    }
  }
}
