import { databaseUnavailable, driverCode } from './database-faults';
import { readingOnly } from './database.engine';
import { type SqliteConnection, SqliteTx } from './sqlite.tx';
import type { SqlValue, Tx } from './tx';
import { UnitOfWork } from './unit-of-work';

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

/**
 * The statements that open a snapshot of each file. The keys come first: an old key beside newer data is harmless, but
 * data without its key looks damaged. Long reads leave the keys out, since a destroyed key stays in its file while a
 * snapshot is open.
 */
const SNAPSHOT = ['SELECT 1 FROM keys.sqlite_master', 'SELECT 1 FROM main.sqlite_master'];

/** The number of connections for long reads. Further ones wait for a free one. */
const SNAPSHOTS_MAX = 4;

/** The read-only connections of a process. */
export interface SqliteReaders {
  readonly reader: SqliteConnection;
  readonly turnReader: SqliteTurnReader;
  /** Opens a further connection, for long reads. */
  readonly open: () => Promise<SqliteConnection>;
}

/** Reads on separate read-only connections, so that a writer never blocks a read. */
export abstract class SqliteReads extends UnitOfWork {
  readonly engine = 'sqlite';
  private turns: Promise<unknown> = Promise.resolve();
  private readonly free: SqliteConnection[] = [];
  private readonly turnsToRead: (() => void)[] = [];
  private snapshots = 0;
  private readonly longReads = new Set<Promise<unknown>>();

  constructor(
    private readonly readers: SqliteReaders,
    onFault?: (error: unknown) => void,
  ) {
    super(onFault);
  }

  /** Runs one read after the other. */
  read<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const turn = this.turns.then(() => this.readOn(this.readers.reader, work, SNAPSHOT));
    this.turns = turn.catch(() => undefined);
    return turn;
  }

  vacuum(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  async get<Row>(sql: string, ...values: readonly string[]): Promise<Row | undefined> {
    try {
      return this.readers.turnReader.get(sql, values) as Row | undefined;
    } catch (error) {
      throw this.answerTo(error);
    }
  }

  async snapshot<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const reading = this.readLong(work);
    const ended = reading.catch(() => undefined).finally(() => this.longReads.delete(ended));
    this.longReads.add(ended);
    return reading;
  }

  private async readLong<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    if (this.snapshots < SNAPSHOTS_MAX) this.snapshots++;
    else await new Promise<void>((resolve) => this.turnsToRead.push(resolve));
    try {
      const connection = this.free.pop() ?? (await this.opened());
      return await this.readOn(connection, work).finally(() => this.free.push(connection));
    } finally {
      const next = this.turnsToRead.shift();
      if (next === undefined) this.snapshots--;
      else next();
    }
  }

  private opened(): Promise<SqliteConnection> {
    return this.readers.open().catch((error: unknown) => {
      throw this.answerTo(error);
    });
  }

  async ping(): Promise<void> {
    await this.get('SELECT 1 FROM sqlite_master');
  }

  /** Ends the shared snapshot, so that no later read returns the state before a commit. */
  protected endTurn(): void {
    this.readers.turnReader.endTurn();
  }

  /** Resolves when every accepted read has ended. */
  async drained(): Promise<void> {
    do await Promise.all([this.turns, ...this.longReads]);
    while (this.longReads.size > 0);
  }

  /** Closes the connections, once every accepted unit has ended. */
  async close(): Promise<void> {
    await this.drained();
    this.readers.turnReader.close();
    for (const { dataSource } of [this.readers.reader, this.readers.turnReader.connection, ...this.free])
      await dataSource.destroy();
  }

  /** Runs the statements of `first` to open the snapshot. */
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
      // A unit that writes in a read is a mistake of its code and not a fault of the engine.
      throw driverCode(error).startsWith('SQLITE_READONLY') ? error : this.answerTo(error);
    } finally {
      tx.close();
      // There is nothing to commit, and the rollback of a read does not fail.
      if (connection.database.inTransaction) connection.prepared('ROLLBACK').run();
    }
  }
}

/** UnitOfWork on a file that another process may write to. A unit that writes is refused. */
export class SqliteReading extends SqliteReads {
  /** @throws StartError for a unit that writes. The service creates missing rows when it starts. */
  async write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      return await this.read(work);
    } catch (error) {
      if (!driverCode(error).startsWith('SQLITE_READONLY')) throw error;
      throw readingOnly();
    }
  }

  scrubKeys(): Promise<void> {
    return Promise.reject(databaseUnavailable());
  }
}
