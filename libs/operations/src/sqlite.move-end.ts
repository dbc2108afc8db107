import type { Database, Options } from 'better-sqlite3';
import { SqliteDatabase, keysPath, MOVE_TABLE } from '@app/database';
import {
  gathered,
  listOf,
  type MovedTable,
  type MoveEnd,
  type MoveTarget,
  type ProgressRow,
  progressOf,
  quoted,
  type Row,
  type TableProgress,
} from './move-end';

type SqliteRow = (string | bigint | null)[];

/** Reads a SQLite file without changes. No other process may write to it meanwhile. */
export class SqliteMoveEnd implements MoveEnd {
  protected readonly database: Database;

  constructor(path: string, options: Options = { readonly: true, fileMustExist: true }) {
    this.database = new SqliteDatabase(path, options);
    this.database.defaultSafeIntegers(true);
    this.database.prepare('ATTACH DATABASE ? AS keys').run(keysPath(path));
  }

  async keyColumns(table: string): Promise<{ name: string; type: string }[]> {
    const found = this.database.prepare(`SELECT name, type FROM pragma_table_info(?, 'keys')`).all(table);
    return found as { name: string; type: string }[];
  }

  async count({ name }: MovedTable): Promise<number> {
    return Number(
      this.database
        .prepare(`SELECT COUNT(*) FROM ${quoted(name)}`)
        .pluck()
        .get(),
    );
  }

  async *batches(table: MovedTable, after: Row | undefined): AsyncGenerator<readonly Row[]> {
    const marks = table.key.map(() => '?').join(', ');
    const where = after === undefined ? '' : `WHERE (${listOf(table.key)}) > (${marks})`;
    const statement = this.database
      .prepare(
        `SELECT ${listOf(table.columns)} FROM ${quoted(table.name)} ${where} ORDER BY ${listOf(table.key)}`,
      )
      .raw();
    const values = (after ?? []).map((text, index) => bound(text, table.key[index]?.isInteger === true));
    yield* gathered(texts(statement.iterate(...values) as Iterable<SqliteRow>));
  }

  async close(): Promise<void> {
    this.database.close();
  }
}

/** Converts a text to the type of its column. */
function bound(text: string | null, isInteger: boolean): string | bigint | null {
  return isInteger && text !== null ? BigInt(text) : text;
}

function* texts(rows: Iterable<SqliteRow>): Generator<Row> {
  for (const row of rows) yield row.map((value) => (value === null ? null : String(value)));
}

/** Fills a SQLite file. No other process may use it meanwhile. */
export class SqliteMoveTarget extends SqliteMoveEnd implements MoveTarget {
  constructor(path: string) {
    super(path, { fileMustExist: true });
    for (const pragma of [
      'journal_mode = WAL',
      'synchronous = FULL',
      'keys.journal_mode = WAL',
      'keys.synchronous = FULL',
      'foreign_keys = ON',
    ])
      this.database.pragma(pragma);
  }

  async isFilledInPart(): Promise<boolean> {
    const found = this.database.prepare('SELECT 1 FROM sqlite_master WHERE name = ?').get(MOVE_TABLE);
    if (found === undefined) return false;
    return this.database.prepare(`SELECT 1 FROM ${MOVE_TABLE} WHERE name <> '' LIMIT 1`).get() !== undefined;
  }

  async begin(sourcePlace: string): Promise<ReadonlyMap<string, TableProgress>> {
    this.database.exec(
      `CREATE TABLE IF NOT EXISTS ${MOVE_TABLE}
         (source text NOT NULL, name text PRIMARY KEY, rows integer NOT NULL, last text)`,
    );
    this.database
      .prepare(`INSERT INTO ${MOVE_TABLE} (source, name, rows) VALUES (?, '', 0) ON CONFLICT DO NOTHING`)
      .run(sourcePlace);
    return progressOf(
      this.database.prepare(`SELECT * FROM ${MOVE_TABLE}`).all() as ProgressRow[],
      sourcePlace,
    );
  }

  async append(table: MovedTable, rows: readonly Row[], { rows: count, last }: TableProgress): Promise<void> {
    const marks = table.columns.map(() => '?').join(', ');
    const insert = this.database.prepare(
      `INSERT INTO ${quoted(table.name)} (${listOf(table.columns)}) VALUES (${marks})`,
    );
    const note = this.database.prepare(
      `INSERT INTO ${MOVE_TABLE} (source, name, rows, last)
         VALUES ((SELECT source FROM ${MOVE_TABLE} WHERE name = ''), ?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET rows = excluded.rows, last = excluded.last`,
    );
    this.database.transaction(() => {
      for (const row of rows)
        insert.run(...row.map((text, index) => bound(text, table.columns[index]?.isInteger === true)));
      note.run(table.name, count, JSON.stringify(last));
    })();
  }

  async finish(): Promise<void> {
    this.database.exec(`DROP TABLE ${MOVE_TABLE}; ANALYZE`);
    this.database.pragma('wal_checkpoint(TRUNCATE)');
  }
}
