import { MOVE_TABLE } from '@app/database';
import { Client, types } from 'pg';
import {
  BATCH_CHARACTERS,
  BATCH_ROWS,
  listOf,
  type MovedColumn,
  type MovedTable,
  type MoveTarget,
  type ProgressRow,
  progressOf,
  quoted,
  type Row,
  type TableProgress,
} from './move-end';

/** The minimum of rows in one query. A table of long values is read in small batches. */
const ROWS_MIN = 10;

/** Sets the place of the next audit event after all existing and all pruned events. */
const CONTINUE_AUDIT_ORDER = `SELECT setval('audit_events_seq', GREATEST(
  (SELECT COALESCE(MAX(seq), 0) FROM audit_events), (SELECT COALESCE(MAX(last_seq), 0) FROM audit_heads)) + 1, false)`;

/** Reads and fills a PostgreSQL database. Every value is read and written as text. */
export class PostgresMoveEnd implements MoveTarget {
  private constructor(private readonly client: Client) {}

  static async open(url: string): Promise<PostgresMoveEnd> {
    const asText = { getTypeParser: () => (text: string) => text } as unknown as typeof types;
    const client = new Client({ connectionString: url, application_name: 'lethe-move', types: asText });
    client.on('error', () => undefined);
    await client.connect();
    // A crash of the server loses rows and progress together, so the move repeats them.
    await client.query('SET synchronous_commit = off');
    return new PostgresMoveEnd(client);
  }

  async keyColumns(table: string): Promise<{ name: string; type: string }[]> {
    const { rows } = await this.client.query<{ name: string; type: string }>(
      `SELECT column_name AS name, data_type AS type FROM information_schema.columns
       WHERE table_schema = 'keys' AND table_name = $1 ORDER BY ordinal_position`,
      [table],
    );
    return rows;
  }

  async count({ name }: MovedTable): Promise<number> {
    const { rows } = await this.client.query<{ count: string }>(
      `SELECT COUNT(*) AS count FROM ${quoted(name)}`,
    );
    return Number(rows[0]?.count);
  }

  async *batches(table: MovedTable, after: Row | undefined): AsyncGenerator<readonly Row[]> {
    const marks = table.key.map(({ isInteger }, index) => `$${index + 1}::${isInteger ? 'bigint' : 'text'}`);
    const where = after === undefined ? '' : `WHERE (${listOf(table.key)}) > (${marks.join(', ')})`;
    await this.client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    try {
      await this.client.query(
        `DECLARE moved NO SCROLL CURSOR FOR SELECT ${listOf(table.columns)} FROM ${quoted(table.name)} ${where}
         ORDER BY ${listOf(table.key)}`,
        after === undefined ? undefined : [...after],
      );
      for (let size = ROWS_MIN; ;) {
        const { rows } = await this.client.query<(string | null)[]>({
          text: `FETCH ${size} FROM moved`,
          rowMode: 'array',
        });
        if (rows.length === 0) return;
        yield rows;
        size = nextSize(rows);
      }
    } finally {
      await this.client.query('ROLLBACK');
    }
  }

  async isFilledInPart(): Promise<boolean> {
    const found = await this.client.query<{ found: string | null }>('SELECT to_regclass($1) AS found', [
      MOVE_TABLE,
    ]);
    if (found.rows[0]?.found == null) return false;
    const { rows } = await this.client.query(`SELECT 1 FROM ${MOVE_TABLE} WHERE name <> '' LIMIT 1`);
    return rows.length > 0;
  }

  async begin(sourcePlace: string): Promise<ReadonlyMap<string, TableProgress>> {
    await this.client.query(
      `CREATE TABLE IF NOT EXISTS ${MOVE_TABLE}
         (source text NOT NULL, name text PRIMARY KEY, rows bigint NOT NULL, last text)`,
    );
    await this.client.query(
      `INSERT INTO ${MOVE_TABLE} (source, name, rows) VALUES ($1, '', 0) ON CONFLICT (name) DO NOTHING`,
      [sourcePlace],
    );
    const { rows } = await this.client.query<ProgressRow>(
      `SELECT source, name, rows, last FROM ${MOVE_TABLE}`,
    );
    return progressOf(rows, sourcePlace);
  }

  async append(table: MovedTable, rows: readonly Row[], { rows: count, last }: TableProgress): Promise<void> {
    const arrays = table.columns.map((_, index) => rows.map((row) => row[index]));
    const given = table.columns.map((column, index) => `$${index + 1}::${arrayType(column)}`).join(', ');
    await this.client.query('BEGIN');
    try {
      await this.client.query({
        name: `move ${table.name}`,
        text: `INSERT INTO ${quoted(table.name)} (${listOf(table.columns)}) SELECT * FROM unnest(${given})`,
        values: arrays,
      });
      await this.client.query(
        `INSERT INTO ${MOVE_TABLE} (source, name, rows, last)
           VALUES ((SELECT source FROM ${MOVE_TABLE} WHERE name = ''), $1, $2, $3)
         ON CONFLICT (name) DO UPDATE SET rows = excluded.rows, last = excluded.last`,
        [table.name, count, JSON.stringify(last)],
      );
      await this.client.query('COMMIT');
    } catch (error) {
      await this.client.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }

  async finish(): Promise<void> {
    await this.client.query('ANALYZE');
    await this.client.query('SET synchronous_commit = on');
    await this.client.query('BEGIN');
    await this.client.query(CONTINUE_AUDIT_ORDER);
    await this.client.query(`DROP TABLE ${MOVE_TABLE}`);
    await this.client.query('COMMIT');
  }

  /** The number of services that use this database. */
  async services(): Promise<number> {
    const { rows } = await this.client.query<{ count: string }>(
      `SELECT COUNT(*) AS count FROM pg_stat_activity
       WHERE datname = current_database() AND application_name IN ('lethe', 'lethe-signals')`,
    );
    return Number(rows[0]?.count);
  }

  async close(): Promise<void> {
    await this.client.end();
  }
}

function arrayType({ isInteger }: MovedColumn): string {
  return isInteger ? 'bigint[]' : 'text[]';
}

/**
 * The number of rows that fills a batch, estimated from the previous rows. It grows slowly, since later rows may be
 * longer.
 */
function nextSize(rows: readonly Row[]): number {
  let characters = 1;
  for (const row of rows) for (const value of row) characters += value?.length ?? 0;
  const fitting = Math.floor((BATCH_CHARACTERS * rows.length) / characters);
  return Math.max(1, Math.min(fitting, rows.length * 4, BATCH_ROWS));
}
