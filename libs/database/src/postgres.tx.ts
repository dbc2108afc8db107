import type { PoolClient } from 'pg';
import type { DataSource, EntityManager } from 'typeorm';
import { type SqlList, type SqlValue, Tx } from './tx';

/**
 * A statement in the form of PostgreSQL: numbered placeholders, and the name of the prepared statement on each
 * connection.
 */
interface Prepared {
  readonly name?: string;
  readonly text: string;
}

/**
 * The maximum of kept texts. The texts of Lethe are far fewer; a module that writes values into its texts cannot fill
 * the memory.
 */
const KEPT_MAX = 1_000;

const known = new Map<string, Prepared>();

/** `?` becomes `$1`, `$2`, … No statement of Lethe has a question mark inside a text. */
function prepared(sql: string): Prepared {
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

/** What a unit has to know of its connection. */
export interface Connected {
  /** Whether a pooler may give the next transaction another session, which does not know the names of statements. */
  readonly isPooled: boolean;
  readonly isOnStandby: boolean;
}

/** {@link prepared}, without a name behind a pooler. */
export function statementFor({ isPooled }: Pick<Connected, 'isPooled'>, sql: string): Prepared {
  const { text, ...name } = prepared(sql);
  return isPooled ? { text } : { text, ...name };
}

/** One unit on its own connection. */
export class PostgresTx extends Tx {
  readonly engine = 'postgres';

  /** The error of the first failed statement, whichever error reaches the unit first. */
  firstFault: unknown;
  private typeorm: EntityManager | undefined;

  constructor(
    private readonly client: PoolClient,
    private readonly source: DataSource,
    private readonly connected: Connected,
  ) {
    super();
  }

  override get isOnStandby(): boolean {
    return this.connected.isOnStandby;
  }

  /** Created at the first use, since most units need none. TypeORM's runner uses the connection of the unit. */
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
        ...statementFor(this.connected, sql),
        values: values as unknown[],
      });
    } catch (error) {
      this.firstFault ??= error;
      throw error;
    }
  }
}
