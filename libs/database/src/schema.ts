import type { QueryRunner, TableColumnOptions, TableIndexOptions } from 'typeorm';
import { Table, TableForeignKey, TableIndex } from 'typeorm';
import { COLLATION } from './postgres.options';

type Shape = Omit<TableColumnOptions, 'name'>;

/** The column types of columns.ts, for migrations. */
export const id: Shape = { type: 'varchar', length: '36' };
export const snowflake: Shape = { type: 'varchar', length: '20' };
export const time: Shape = { type: 'varchar', length: '24' };
export const text: Shape = { type: 'text' };
export const integer: Shape = { type: 'integer' };

export const primary = (shape: Shape): Shape => ({ ...shape, isPrimary: true });
export const nullable = (shape: Shape): Shape => ({ ...shape, isNullable: true });

/** Parts of a large table on PostgreSQL; each holds the bots whose ids fall into it. */
const PARTITIONS = 16;

export interface TableShape {
  readonly name: string;
  readonly columns: Readonly<Record<string, Shape>>;
  readonly indices?: readonly Omit<TableIndexOptions, 'name'>[];
  /** Grows without bound: on PostgreSQL it is partitioned by the hash of `bot_id`. */
  readonly large?: boolean;
}

export function isPostgres(runner: QueryRunner): boolean {
  return runner.dataSource.options.type === 'postgres';
}

/** Creates a table of one bot's rows: `bot_id` leads to the bot and goes with it. */
export async function createBotTable(runner: QueryRunner, shape: TableShape): Promise<void> {
  await createTable(runner, shape, [
    new TableForeignKey({
      name: `fk_${shape.name}_bot`,
      columnNames: ['bot_id'],
      referencedTableName: 'bots',
      referencedColumnNames: ['id'],
      onDelete: 'CASCADE',
    }),
  ]);
}

export async function createTable(
  runner: QueryRunner,
  shape: TableShape,
  foreignKeys: TableForeignKey[] = [],
): Promise<void> {
  const columns = Object.entries(shape.columns).map(([name, column]) => ({
    name,
    ...onEngine(runner, column),
  }));
  const indices = (shape.indices ?? []).map(
    (index) => new TableIndex({ ...index, name: indexName(shape.name, index.columnNames) }),
  );
  const table = new Table({ name: shape.name, columns, indices, foreignKeys });
  if (shape.large === true && isPostgres(runner)) await createPartitioned(runner, table);
  else await runner.createTable(table);
}

/**
 * Adds a column in place; the schema API would copy the whole table on SQLite. One with a default is not null, and rows
 * that are there already are not written: both engines answer the default for them.
 */
export async function addColumn(
  runner: QueryRunner,
  table: string,
  name: string,
  shape: Shape,
): Promise<void> {
  const { type, length, collation } = onEngine(runner, shape);
  const fallback = shape.default as string | undefined;
  const presence = fallback === undefined ? '' : ` NOT NULL DEFAULT '${fallback}'`;
  await runner.query(
    `ALTER TABLE ${table} ADD COLUMN ${name} ${type}${length ? `(${length})` : ''}${collation ? ` COLLATE "${collation}"` : ''}${presence}`,
  );
}

/** PostgreSQL: the parts of a table that is partitioned, or the table itself: what holds rows and has settings. */
export async function partsOf(runner: QueryRunner, table: string): Promise<readonly string[]> {
  const parts = (await runner.query(
    'SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = $1::regclass ORDER BY 1',
    [table],
  )) as { name: string }[];
  return parts.length === 0 ? [table] : parts.map(({ name }) => name);
}

/** PostgreSQL: the next event of the audit log gets a place behind all that are there. */
export const CONTINUE_AUDIT_ORDER = `SELECT setval('audit_events_seq',
  (SELECT COALESCE(MAX(seq), 0) + 1 FROM audit_events), false)`;

/** {@link CONTINUE_AUDIT_ORDER} where logs are sealed: behind events too that were pruned since. */
export const CONTINUE_SEALED_ORDER = `SELECT setval('audit_events_seq', GREATEST(
  (SELECT COALESCE(MAX(seq), 0) FROM audit_events), (SELECT COALESCE(MAX(last_seq), 0) FROM audit_heads)) + 1, false)`;

/** One name for the index of a migration and of its entity. */
export function indexName(table: string, columns: readonly string[] = []): string {
  return `ix_${table}_${columns.join('_')}`;
}

/** Integers have 64 bits and text is compared byte by byte, as on SQLite. */
function onEngine(runner: QueryRunner, shape: Shape): Shape {
  if (!isPostgres(runner)) return shape;
  return shape.type === 'integer' ? { ...shape, type: 'bigint' } : { ...shape, collation: COLLATION };
}

/** TypeORM knows no partitions: the table is written out, its indices are made by TypeORM again. */
async function createPartitioned(runner: QueryRunner, table: Table): Promise<void> {
  const columns = table.columns.map(
    ({ name, type, length, collation, isNullable }) =>
      `"${name}" ${type}${length ? `(${length})` : ''}${collation ? ` COLLATE "${collation}"` : ''}${isNullable ? '' : ' NOT NULL'}`,
  );
  const key = table.primaryColumns.map(({ name }) => `"${name}"`).join(', ');
  const references = table.foreignKeys.map(
    ({ name }) => `CONSTRAINT "${name}" FOREIGN KEY ("bot_id") REFERENCES "bots" ("id") ON DELETE CASCADE`,
  );
  const parts = [...columns, `CONSTRAINT "pk_${table.name}" PRIMARY KEY (${key})`, ...references];
  await runner.query(`CREATE TABLE "${table.name}" (${parts.join(', ')}) PARTITION BY HASH ("bot_id")`);
  for (let part = 0; part < PARTITIONS; part++) {
    await runner.query(
      `CREATE TABLE "${table.name}_p${String(part).padStart(2, '0')}" PARTITION OF "${table.name}"
       FOR VALUES WITH (MODULUS ${PARTITIONS}, REMAINDER ${part})`,
    );
  }
  await runner.createIndices(table, [...table.indices]);
}
