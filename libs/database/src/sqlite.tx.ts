import type { Database } from 'better-sqlite3';
import type { DataSource, EntityManager } from 'typeorm';
import { databaseUnavailable } from './database-faults';
import { isOfKeys, type SqliteKeys } from './sqlite.keys';
import { SqliteStatements } from './sqlite.statements';
import { type SqlList, type SqlValue, Tx } from './tx';

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
    return isOfKeys(sql) ? this.keys.joined() : this.connection;
  }
}
