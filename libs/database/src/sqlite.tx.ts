import type { Database, Statement } from 'better-sqlite3';
import type { DataSource, EntityManager } from 'typeorm';
import { type SqlList, type SqlValue, Tx } from './tx';

/** Row locks, which only PostgreSQL needs: on SQLite units run one after the other. */
const ROW_LOCK = /\bFOR (?:NO KEY UPDATE|UPDATE|KEY SHARE|SHARE)(?: OF [a-z_]+)?(?: SKIP LOCKED)?/g;

/** The maximum of prepared statements on one connection. The texts of Lethe are far fewer. */
const STATEMENTS_MAX = 500;

/** TypeORM's connection to SQLite, with the handle of the driver. */
export class SqliteConnection {
  readonly database: Database;
  readonly manager: EntityManager;
  private readonly statements = new Map<string, Statement>();

  constructor(readonly dataSource: DataSource) {
    this.database = (dataSource.driver as unknown as { databaseConnection: Database }).databaseConnection;
    this.manager = dataSource.createEntityManager(dataSource.createQueryRunner());
  }

  prepared(sql: string): Statement {
    let statement = this.statements.get(sql);
    if (statement === undefined) {
      if (this.statements.size >= STATEMENTS_MAX) this.statements.clear();
      statement = this.database.prepare(sql.replace(ROW_LOCK, ''));
      this.statements.set(sql, statement);
    }
    return statement;
  }
}

/** One unit on a SQLite connection. Its statements run synchronously inside their promises. */
export class SqliteTx extends Tx {
  readonly engine = 'sqlite';

  constructor(private readonly connection: SqliteConnection) {
    super();
  }

  protected get entityManager(): EntityManager {
    return this.connection.manager;
  }

  protected async fetch(sql: string, values: readonly (SqlValue | SqlList)[]): Promise<unknown[]> {
    return this.connection.prepared(sql).all(...values);
  }

  protected async fetchOne(sql: string, values: readonly (SqlValue | SqlList)[]): Promise<unknown> {
    return this.connection.prepared(sql).get(...values);
  }

  protected async execute(sql: string, values: readonly (SqlValue | SqlList)[]): Promise<number> {
    return this.connection.prepared(sql).run(...values).changes;
  }
}
