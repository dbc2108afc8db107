import { driverCode, translateFault } from './database-faults';
import type { SqliteTurnReader } from './sqlite.turn-reader';
import { type SqliteConnection, SqliteTx } from './sqlite.tx';
import type { Tx } from './tx';
import { UnitOfWork } from './unit-of-work';

/**
 * A snapshot of a file begins with the first look into it. The keys first: an older key beside newer data is of no use to
 * anybody, while data whose key is gone looks damaged. What takes long leaves this out, since nothing removes a key from
 * its file for good while somebody looks into it.
 */
const SNAPSHOT = ['SELECT 1 FROM keys.sqlite_master', 'SELECT 1 FROM main.sqlite_master'];

/** The read-only connections of a process. */
export interface SqliteReaders {
  readonly reader: SqliteConnection;
  readonly turnReader: SqliteTurnReader;
  /** Makes further ones for long snapshots. */
  readonly open: () => Promise<SqliteConnection>;
}

/** Reads on read-only connections of their own: whoever writes to the file holds up none of them. */
export abstract class SqliteReads extends UnitOfWork {
  readonly engine = 'sqlite';
  private turns: Promise<unknown> = Promise.resolve();

  constructor(private readonly readers: SqliteReaders) {
    super();
  }

  /** One after the other. */
  read<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const turn = this.turns.then(() => this.readOn(this.readers.reader, work, SNAPSHOT));
    this.turns = turn.catch(() => undefined);
    return turn;
  }

  async get<Row>(sql: string, ...values: readonly string[]): Promise<Row | undefined> {
    try {
      return this.readers.turnReader.get(sql, values) as Row | undefined;
    } catch (error) {
      throw translateFault(error);
    }
  }

  async snapshot<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const connection = await this.readers.open();
    try {
      return await this.readOn(connection, work);
    } finally {
      await connection.dataSource.destroy();
    }
  }

  async ping(): Promise<void> {
    await this.get('SELECT 1 FROM sqlite_master');
  }

  /** Nobody reads any more what was before a commit. */
  protected endTurn(): void {
    this.readers.turnReader.endTurn();
  }

  /** Resolves when everything asked for so far has ended. */
  async drained(): Promise<void> {
    await this.turns;
  }

  async close(): Promise<void> {
    this.readers.turnReader.close();
    for (const { dataSource } of [this.readers.reader, this.readers.turnReader.connection])
      await dataSource.destroy();
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
