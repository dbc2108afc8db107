import type { Database } from 'better-sqlite3';
import type { DataSource, EntityManager } from 'typeorm';
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
    if (this.keys !== undefined && isOfKeys(sql)) return this.keys.joined().run(sql, values);
    return this.connection.prepared(sql).run(...values).changes;
  }

  private of(sql: string): SqliteStatements {
    return this.keys !== undefined && isOfKeys(sql) ? this.keys.joined() : this.connection;
  }
}
