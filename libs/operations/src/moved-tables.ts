import type { DatabaseEngine } from '@app/database';
import { StartError } from '@app/kernel';
import type { DataSourceOptions, EntityMetadata } from 'typeorm';

/** One of the two databases of a move. */
export interface MovePlace {
  /** The path of the file, or the URL of the server. */
  readonly at: string;
  readonly engine: DatabaseEngine;
  readonly options: DataSourceOptions;
}

/** A table of an entity or of the keys, for a move. */
export interface MovedTable {
  readonly name: string;
  readonly columns: readonly MovedColumn[];
  /** The columns of the primary key, in its order. */
  readonly key: readonly MovedColumn[];
}

interface MovedColumn {
  readonly name: string;
  readonly isInteger: boolean;
}

/**
 * A row with one text for each column, integers as decimal digits. Tables of Lethe hold only text and integers, so the
 * text is the same on both engines.
 */
export type Row = readonly (string | null)[];

/** The progress of one table. */
export interface TableProgress {
  readonly rows: number;
  /** The key of the last moved row. */
  readonly last: Row | undefined;
}

/**
 * The tables of the entities, each after the tables to which it refers. @throws StartError for types that differ
 * between the engines
 */
export function movedTables(metadatas: readonly EntityMetadata[]): MovedTable[] {
  const ordered: EntityMetadata[] = [];
  const visit = (metadata: EntityMetadata): void => {
    if (ordered.includes(metadata)) return;
    for (const { referencedEntityMetadata } of metadata.foreignKeys)
      if (referencedEntityMetadata !== metadata) visit(referencedEntityMetadata);
    ordered.push(metadata);
  };
  const byName = (a: EntityMetadata, b: EntityMetadata) => (a.tableName < b.tableName ? -1 : 1);
  for (const metadata of [...metadatas].sort(byName)) visit(metadata);
  return ordered.map(({ tableName, columns, primaryColumns }) =>
    movedTable(
      tableName,
      columns.map(({ databaseName, type }) => ({ name: databaseName, type: String(type) })),
      primaryColumns.map(({ databaseName }) => databaseName),
    ),
  );
}

/** @throws StartError for types that differ between the engines */
export function movedTable(
  name: string,
  columns: readonly { readonly name: string; readonly type: string }[],
  key: readonly string[],
): MovedTable {
  const moved = columns.map((column) => movedColumn(name, column.name, column.type));
  return { name, columns: moved, key: key.flatMap((part) => moved.filter((column) => column.name === part)) };
}

const INTEGERS = ['integer', 'bigint', 'int', 'smallint'];
const TEXTS = ['varchar', 'text', 'character varying'];

function movedColumn(table: string, name: string, given: string): MovedColumn {
  const type = given.toLowerCase().replace(/\(\d+\)$/, '');
  const isInteger = INTEGERS.includes(type);
  if (isInteger || TEXTS.includes(type)) return { name, isInteger };
  throw new StartError(
    `${table}.${name} is of the type ${given}, which the engines store differently. ` +
      'Only the column types of libs/database/src/schema.ts can be moved.',
  );
}

/** The key of a row of `table`. */
export function keyOf(table: MovedTable, row: Row): Row {
  return table.key.map((column) => row[table.columns.indexOf(column)] ?? null);
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
