import type { Database, Statement } from 'better-sqlite3';
import type { DataSource, EntityManager } from 'typeorm';
import { databaseUnavailable } from './database-faults';
import { OPENING_MS, SqliteDatabase, WRITING } from './sqlite.driver';
import { SqliteTruncation } from './sqlite.checkpoints';
import { type SqlList, type SqlValue, Tx } from './tx';

/** Row locks, which only PostgreSQL needs: on SQLite units run one after the other. */
const ROW_LOCK = /\bFOR (?:NO KEY UPDATE|UPDATE|KEY SHARE|SHARE)(?: OF [a-z_]+)?(?: SKIP LOCKED)?/g;

/** The maximum of prepared statements on one connection. The texts of Lethe are far fewer. */
const STATEMENTS_MAX = 500;

/** The prepared statements of one connection. From here on a lock never blocks the event loop: the unit of work retries. */
class SqliteStatements {
  private readonly statements = new Map<string, Statement>();

  constructor(readonly database: Database) {
    database.pragma('busy_timeout = 0');
  }

  prepared(sql: string): Statement {
    let statement = this.statements.get(sql);
    if (statement === undefined) {
      if (this.statements.size >= STATEMENTS_MAX) this.statements.clear();
      statement = this.database.prepare(this.textOf(sql));
      this.statements.set(sql, statement);
    }
    return statement;
  }

  /** The number of changed rows. */
  run(sql: string, values: readonly unknown[]): number {
    return this.prepared(sql).run(...values).changes;
  }

  /** The statement as the engine accepts it. */
  protected textOf(sql: string): string {
    return sql.replace(ROW_LOCK, '');
  }
}

/** The page cache, in KiB. */
const CACHE_KIB = 8_192;
/** The prefix that addresses the tables of the keys in every statement. */
const PREFIX = /\bkeys\./;
const EVERY_PREFIX = new RegExp(PREFIX, 'g');

/**
 * The file of the keys, which only this process writes. Its transactions are not those of the data: a group of units
 * commits here before it commits its data. Whatever fails after that leaves a new key that nothing uses, or the data of
 * an erasure that is still `processing`, but never data without its key.
 */
export class SqliteKeys extends SqliteStatements {
  readonly truncation: SqliteTruncation;
  private isInGroup = false;
  private isInUnit = false;

  constructor(path: string, onFault: (error: unknown) => void) {
    super(opened(path));
    this.truncation = new SqliteTruncation(
      this.database,
      onFault,
      'The write-ahead log of the keys could not be truncated, since another process reads the keys: an erasure waits until it ends',
    );
  }

  /** Rows that triggers have changed count too, since subject_keys is a view. */
  override run(sql: string, values: readonly unknown[]): number {
    const before = this.totalChanges();
    this.prepared(sql).run(...values);
    return this.totalChanges() - before;
  }

  /** Takes part in the unit under way. */
  joined(): this {
    if (!this.isInGroup) this.prepared('BEGIN').run();
    this.isInGroup = true;
    if (!this.isInUnit) this.prepared('SAVEPOINT unit').run();
    this.isInUnit = true;
    return this;
  }

  /** Keeps what the unit has written. */
  release(): void {
    if (this.isInUnit) this.prepared('RELEASE unit').run();
    this.isInUnit = false;
  }

  /** Undoes what the unit has written. */
  undo(): void {
    const isOpen = this.isInUnit && this.database.inTransaction;
    this.isInUnit = false;
    if (!isOpen) return;
    this.prepared('ROLLBACK TO unit').run();
    this.prepared('RELEASE unit').run();
  }

  /** Whether nothing of the group was lost: some errors, such as a full disk, end the whole transaction. */
  get isWhole(): boolean {
    return !this.isInGroup || this.database.inTransaction;
  }

  /** Makes durable what the group has written. @throws Error when that fails, with nothing written */
  commit(): void {
    if (!this.isWhole) throw databaseUnavailable();
    if (this.isInGroup) this.prepared('COMMIT').run();
    this.isInGroup = false;
  }

  /** Undoes what the group has written and not committed. */
  abandon(): void {
    this.isInGroup = false;
    this.isInUnit = false;
    if (this.database.inTransaction) this.prepared('ROLLBACK').run();
  }

  protected override textOf(sql: string): string {
    return super.textOf(sql).replace(EVERY_PREFIX, '');
  }

  private totalChanges(): number {
    return this.prepared('SELECT total_changes()').pluck().get() as number;
  }
}

/** The pragmas read the file, so they are run while a lock is still waited for. */
function opened(path: string): Database {
  const database = new SqliteDatabase(path, { fileMustExist: true, timeout: OPENING_MS });
  for (const pragma of [...WRITING, `cache_size = -${CACHE_KIB}`]) database.pragma(pragma);
  return database;
}

/** TypeORM's connection to SQLite, with the handle of the driver. */
export class SqliteConnection extends SqliteStatements {
  readonly manager: EntityManager;

  constructor(readonly dataSource: DataSource) {
    super((dataSource.driver as unknown as { databaseConnection: Database }).databaseConnection);
    this.manager = dataSource.createEntityManager(dataSource.createQueryRunner());
  }
}

/**
 * One unit on a SQLite connection. Its statements run synchronously inside their promises. In a unit that writes, a
 * statement about the keys runs on the file of the keys, and none is about keys and data.
 */
export class SqliteTx extends Tx {
  readonly engine = 'sqlite';

  constructor(
    private readonly connection: SqliteConnection,
    private readonly keys?: SqliteKeys,
  ) {
    super();
  }

  protected get entityManager(): EntityManager {
    return this.connection.manager;
  }

  protected async fetch(sql: string, values: readonly (SqlValue | SqlList)[]): Promise<unknown[]> {
    return this.of(sql)
      .prepared(sql)
      .all(...values);
  }

  protected async fetchOne(sql: string, values: readonly (SqlValue | SqlList)[]): Promise<unknown> {
    return this.of(sql)
      .prepared(sql)
      .get(...values);
  }

  protected async execute(sql: string, values: readonly (SqlValue | SqlList)[]): Promise<number> {
    return this.of(sql).run(sql, values);
  }

  /** @throws ApiError 503 when a fault has ended the transaction: a statement after it would be committed alone */
  private of(sql: string): SqliteStatements {
    if (this.keys === undefined) return this.connection;
    if (!this.connection.database.inTransaction || !this.keys.isWhole) throw databaseUnavailable();
    return PREFIX.test(sql) ? this.keys.joined() : this.connection;
  }
}
