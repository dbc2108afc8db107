import type { Database, Statement } from 'better-sqlite3';

/** Row locks, which only PostgreSQL needs: on SQLite units run one after the other. */
const ROW_LOCK = /\bFOR (?:NO KEY UPDATE|UPDATE|KEY SHARE|SHARE)(?: OF [a-z_]+)?(?: SKIP LOCKED)?/g;

/** The maximum of prepared statements on one connection. The texts of Lethe are far fewer. */
const STATEMENTS_MAX = 500;

/** The prepared statements of one connection. From here on a lock never blocks the event loop: the unit of work retries. */
export class SqliteStatements {
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
