import type { PoolClient } from 'pg';
import type { DataSource, EntityManager } from 'typeorm';
import { type SqlList, type SqlValue, Tx } from './tx';

/** A statement as PostgreSQL takes it: placeholders by number, and the name under which each connection keeps it. */
interface Prepared {
  readonly name?: string;
  readonly text: string;
}

/** The texts of the code are far fewer; where a module writes values into its texts, the others are not kept. */
const KEPT_MAX = 1_000;

const known = new Map<string, Prepared>();

/** `?` becomes `$1`, `$2`, …; no statement of ours has a question mark in a text. */
export function prepared(sql: string): Prepared {
  let found = known.get(sql);
  if (found === undefined) {
    let count = 0;
    const text = sql.replace(/\?/g, () => `$${++count}`);
    if (known.size >= KEPT_MAX) return { text };
    found = { name: `lethe_${known.size + 1}`, text };
    known.set(sql, found);
  }
  return found;
}

/** One unit on a connection that is its own until it ends. */
export class PostgresTx extends Tx {
  readonly engine = 'postgres';

  /** The error of the first statement that failed, whichever the unit hears of. */
  firstFault: unknown;
  private typeorm: EntityManager | undefined;

  constructor(
    private readonly client: PoolClient,
    private readonly source: DataSource,
  ) {
    super();
  }

  /** Made when it is first asked for: most units do without. TypeORM's runner takes the connection that it finds. */
  protected get entityManager(): EntityManager {
    if (this.typeorm !== undefined) return this.typeorm;
    const runner = this.source.createQueryRunner();
    Object.assign(runner, { databaseConnection: this.client });
    return (this.typeorm = runner.manager);
  }

  protected async fetch(sql: string, values: readonly (SqlValue | SqlList)[]): Promise<unknown[]> {
    return (await this.query(sql, values)).rows;
  }

  protected async fetchOne(sql: string, values: readonly (SqlValue | SqlList)[]): Promise<unknown> {
    return (await this.query(sql, values)).rows[0];
  }

  protected async execute(sql: string, values: readonly (SqlValue | SqlList)[]): Promise<number> {
    return (await this.query(sql, values)).rowCount ?? 0;
  }

  private async query(sql: string, values: readonly (SqlValue | SqlList)[]) {
    try {
      return await this.client.query<Record<string, unknown>>({
        ...prepared(sql),
        values: values as unknown[],
      });
    } catch (error) {
      this.firstFault ??= error;
      throw error;
    }
  }
}
