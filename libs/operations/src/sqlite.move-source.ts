import { resolve } from 'node:path';
import {
  keysPath,
  needsMigrations,
  requireKeyTables,
  requireKnown,
  SqliteDatabase,
  sqliteOptions,
} from '@app/database';
import { adminCommand, isThere, StartError } from '@app/kernel';
import type { Database } from 'better-sqlite3';
import type { DataSource } from 'typeorm';
import { listOf, type MovedTable, type MovePlace, quoted, type Row } from './moved-tables';

/** The number of rows in a batch, and the approximate number of characters. */
const BATCH_ROWS = 1000;
const BATCH_CHARACTERS = 2_000_000;

/** Reads a SQLite file without changes, under the lock of the service. */
export class SqliteMoveSource {
  private readonly database: Database;

  private constructor(
    path: string,
    private readonly schema: DataSource,
  ) {
    this.database = new SqliteDatabase(path, { readonly: true, fileMustExist: true });
    this.database.defaultSafeIntegers(true);
    this.database.prepare('ATTACH DATABASE ? AS keys').run(keysPath(path));
  }

  /** @throws StartError for a file that a process uses, for one without its keys, and for one that is not of this version */
  static async open({ at, engine, options }: MovePlace): Promise<SqliteMoveSource> {
    if (!isThere(at)) throw new StartError(`There is no file ${at}. Check --from.`);
    const { entities, migrations } = options;
    const schema = engine.schemaSource({ ...sqliteOptions(at, 'read'), entities, migrations });
    await schema.initialize();
    try {
      await requireKnown(schema);
      if (await needsMigrations(schema))
        throw new StartError(
          `The source (${engine.place}) is not a complete database of this version. Run ${adminCommand('db:migrate')} with DATABASE_URL set to it, then run this again.`,
        );
      await requireKeyTables(schema);
      return new SqliteMoveSource(resolve(at), schema);
    } catch (error) {
      await schema.destroy();
      throw error;
    }
  }

  count({ name }: Pick<MovedTable, 'name'>): number {
    const count = this.database.prepare(`SELECT COUNT(*) FROM ${quoted(name)}`).pluck();
    return Number(count.get());
  }

  /** Every row after the key `after`, in the order of the key, in batches of bounded size. */
  *batches(table: MovedTable, after?: Row): Generator<Row[]> {
    const marks = table.key.map(() => '?').join(', ');
    const where = after === undefined ? '' : `WHERE (${listOf(table.key)}) > (${marks})`;
    const statement = this.database
      .prepare(
        `SELECT ${listOf(table.columns)} FROM ${quoted(table.name)} ${where} ORDER BY ${listOf(table.key)}`,
      )
      .raw();
    const values = table.key.map(({ isInteger }, index) => {
      const text = after?.[index] ?? null;
      return isInteger && text !== null ? BigInt(text) : text;
    });
    let batch: Row[] = [];
    let characters = 0;
    const found = statement.iterate(...(after === undefined ? [] : values));
    for (const values of found as Iterable<(string | bigint | null)[]>) {
      const row = values.map((value) => (value === null ? null : String(value)));
      batch.push(row);
      for (const text of row) characters += text?.length ?? 0;
      if (batch.length < BATCH_ROWS && characters < BATCH_CHARACTERS) continue;
      yield batch;
      batch = [];
      characters = 0;
    }
    if (batch.length > 0) yield batch;
  }

  async close(): Promise<void> {
    this.database.close();
    await this.schema.destroy();
  }
}
