import type { EntityMetadata } from 'typeorm';
import { KEY_TABLES } from '@app/database';
import { StartError } from '@app/kernel';

/** The table of an entity, for a move. */
export interface MovedTable {
  readonly name: string;
  readonly columns: readonly MovedColumn[];
  /** The columns of the primary key, in its order. */
  readonly key: readonly MovedColumn[];
}

export interface MovedColumn {
  readonly name: string;
  readonly isInteger: boolean;
}

/**
 * A row with one text for each column, integers as decimal digits. Tables of Lethe hold only text and integers, so the
 * text is the same on both engines.
 */
export type Row = readonly (string | null)[];

/** One of the two databases of a move. */
export interface MoveEnd {
  /** The columns of a key table, each with the engine's name of its type. */
  keyColumns(table: string): Promise<readonly { readonly name: string; readonly type: string }[]>;
  count(table: MovedTable): Promise<number>;
  /** Every row after `after`, in the order of the key, in batches of bounded size, all from one snapshot. */
  batches(table: MovedTable, after: Row | undefined): AsyncIterable<readonly Row[]>;
  close(): Promise<void>;
}

/** The progress of one table. */
export interface TableProgress {
  readonly rows: number;
  /** The key of the last moved row. */
  readonly last: Row | undefined;
}

/** The database that a move fills. */
export interface MoveTarget extends MoveEnd {
  /** Whether a move that was interrupted has left rows. */
  isFilledInPart(): Promise<boolean>;
  /** Marks the database as being filled. The progress of an interrupted move by table; empty at the first run. */
  begin(sourcePlace: string): Promise<ReadonlyMap<string, TableProgress>>;
  /** Commits rows and progress together. */
  append(table: MovedTable, rows: readonly Row[], progress: TableProgress): Promise<void>;
  /** Releases the database for use. */
  finish(tables: readonly MovedTable[]): Promise<void>;
}

/** A row of {@link MOVE_TABLE} as a driver reads it. */
export interface ProgressRow {
  readonly source: string;
  readonly name: string;
  readonly rows: string | bigint;
  readonly last: string | null;
}

/** The progress of an interrupted move by table. @throws StartError when that move had another source */
export function progressOf(
  rows: readonly ProgressRow[],
  sourcePlace: string,
): ReadonlyMap<string, TableProgress> {
  const other = rows.find(({ source }) => source !== sourcePlace);
  if (other !== undefined) {
    throw new StartError(
      `A move of ${other.source} to the target was begun and not finished. Finish it, or drop the target and create it again.`,
    );
  }
  return new Map(
    rows.map(({ name, rows: count, last }) => [
      name,
      { rows: Number(count), last: last === null ? undefined : (JSON.parse(last) as Row) },
    ]),
  );
}

/** The number of rows in a batch, and the approximate number of characters. */
export const BATCH_ROWS = 1000;
export const BATCH_CHARACTERS = 2_000_000;

/**
 * The tables of the entities, each after the tables to which it refers. @throws StartError for types that differ
 * between the engines
 */
export function movedTables(metadatas: readonly EntityMetadata[], left: readonly string[]): MovedTable[] {
  const ordered: EntityMetadata[] = [];
  const visit = (metadata: EntityMetadata): void => {
    if (ordered.includes(metadata)) return;
    for (const { referencedEntityMetadata } of metadata.foreignKeys)
      if (referencedEntityMetadata !== metadata) visit(referencedEntityMetadata);
    ordered.push(metadata);
  };
  const byName = (a: EntityMetadata, b: EntityMetadata) => (a.tableName < b.tableName ? -1 : 1);
  for (const metadata of [...metadatas].sort(byName)) visit(metadata);
  return ordered.filter(({ tableName }) => !left.includes(tableName)).map(movedTable);
}

const INTEGERS = ['integer', 'bigint', 'int', 'smallint'];
const TEXTS = ['varchar', 'text', 'character varying'];

function movedTable({ tableName, columns, primaryColumns }: EntityMetadata): MovedTable {
  const moved = columns.map(({ databaseName, type }) => movedColumn(tableName, databaseName, String(type)));
  const key = primaryColumns.map(({ databaseName }) => moved.find(({ name }) => name === databaseName));
  return { name: tableName, columns: moved, key: key.filter((column) => column !== undefined) };
}

function movedColumn(table: string, name: string, given: string): MovedColumn {
  const type = given.toLowerCase().replace(/\(\d+\)$/, '');
  const isInteger = INTEGERS.includes(type);
  if (isInteger || TEXTS.includes(type)) return { name, isInteger };
  throw new StartError(
    `${table}.${name} is of the type ${given}, which the engines store differently. ` +
      'Only the column types of libs/database/src/columns.ts can be moved.',
  );
}

/** The key of a row of `table`. */
export function keyOf(table: MovedTable, row: Row): Row {
  return table.key.map((column) => row[table.columns.indexOf(column)] ?? null);
}

/** The key tables, which have no entity, with their columns on one side. */
export async function keyTables(end: MoveEnd): Promise<MovedTable[]> {
  const tables: MovedTable[] = [];
  for (const [table, primary] of Object.entries<readonly string[]>(KEY_TABLES)) {
    const found = await end.keyColumns(table);
    const columns = found.map(({ name, type }) => movedColumn(`keys.${table}`, name, type));
    const key = columns.filter(({ name }) => primary.includes(name));
    tables.push({ name: `keys.${table}`, columns, key });
  }
  return tables;
}

/** `"keys"."subject_keys"` */
export function quoted(name: string): string {
  return name
    .split('.')
    .map((part) => `"${part}"`)
    .join('.');
}

/** `"a", "b"` */
export function listOf(columns: readonly MovedColumn[]): string {
  return columns.map(({ name }) => `"${name}"`).join(', ');
}

/** Groups rows into batches. */
export function* gathered(rows: Iterable<Row>): Generator<Row[]> {
  let batch: Row[] = [];
  let characters = 0;
  for (const row of rows) {
    batch.push(row);
    for (const value of row) characters += value?.length ?? 0;
    if (batch.length < BATCH_ROWS && characters < BATCH_CHARACTERS) continue;
    yield batch;
    batch = [];
    characters = 0;
  }
  if (batch.length > 0) yield batch;
}
