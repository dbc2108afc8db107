import { applyDecorators } from '@nestjs/common';
import {
  Column,
  ColumnOptions,
  JoinColumn,
  ManyToOne,
  PrimaryColumn,
  type QueryRunner,
  Table,
  type TableColumnOptions,
  TableForeignKey,
  TableIndex,
  type TableIndexOptions,
} from 'typeorm';
import { indexName } from './index-names';
import { COLLATION } from './postgres.options';

/** A column of a migration. `default` is an SQL expression. */
type Shape = Omit<TableColumnOptions, 'name'>;

/*
 * Column types that mean the same on both engines, for migrations. The functions for tables are part of every released
 * migration: test/engines/migrations-frozen.engines.e2e-spec.ts fails when a change alters the effect of one.
 */
export const id: Shape = { type: 'varchar', length: '36' };
/** As text, since a JavaScript number cannot hold 64 bits. */
export const snowflake: Shape = { type: 'varchar', length: '20' };
/** A keyed digest in the place of the id of a user or guild: a text as long as the longest snowflake. */
export const digest: Shape = snowflake;
/** ISO 8601, UTC, milliseconds: the same text on both engines, and its order is the order of time. */
export const time: Shape = { type: 'varchar', length: '24' };
export const text: Shape = { type: 'text' };
export const integer: Shape = { type: 'integer' };
export const varchar = (length: number): Shape => ({ type: 'varchar', length: String(length) });

export const primary = (shape: Shape): Shape => ({ ...shape, isPrimary: true });
export const nullable = (shape: Shape): Shape => ({ ...shape, isNullable: true });

/* The same types, for entities. */
type Options = Pick<ColumnOptions, 'name' | 'nullable' | 'default'>;
type ColumnOf<Given = Options> = (options?: Given) => PropertyDecorator;

function columnOf(shape: Shape): ColumnOf {
  return (options) => Column({ ...shape, ...options } as ColumnOptions);
}

function primaryOf(shape: Shape): ColumnOf<Pick<Options, 'name'>> {
  return (options) => PrimaryColumn({ ...shape, ...options } as ColumnOptions & { nullable?: false });
}

export const IdColumn = columnOf(id);
export const PrimaryIdColumn = primaryOf(id);
export const SnowflakeColumn = columnOf(snowflake);
export const DigestColumn = columnOf(digest);
export const PrimaryDigestColumn = primaryOf(digest);
export const TextColumn = columnOf(text);
export const TimeColumn = columnOf(time);
export const IntegerColumn = columnOf(integer);
/** JSON as text: `jsonb` would reorder keys. */
export const JsonColumn = (options: Options = {}): PropertyDecorator =>
  Column({
    type: 'text',
    ...options,
    transformer: { to: json, from: parsed },
  });

/** The text of a {@link JsonColumn}. */
export function json(value: unknown): string | null {
  return value == null ? null : JSON.stringify(value);
}

/** The value of a text of {@link json}. */
export function parsed<T>(text: string | null): T | null {
  return text === null ? null : (JSON.parse(text) as T);
}

/** The row belongs to a bot and is deleted with it. `table` names the foreign key as createBotTable does. */
export const BelongsToBot = (table: string): PropertyDecorator =>
  applyDecorators(
    ManyToOne('Bot', { onDelete: 'CASCADE' }),
    JoinColumn({ name: 'bot_id', foreignKeyConstraintName: `fk_${table}_bot` }),
  );

/** The number of partitions of a large table on PostgreSQL. The hash of the bot's id selects the partition. */
const PARTITIONS = 16;

interface TableShape {
  readonly name: string;
  readonly columns: Readonly<Record<string, Shape>>;
  readonly indices?: readonly Omit<TableIndexOptions, 'name'>[];
  /** A table that grows without bound. On PostgreSQL it is partitioned by the hash of `bot_id`. */
  readonly large?: boolean;
}

export function isPostgres(runner: QueryRunner): boolean {
  return runner.dataSource.options.type === 'postgres';
}

/** Creates a table with rows of bots. `bot_id` refers to the bot, and the rows are deleted with it. */
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

/** Creates a table in the schema or file `keys`. On SQLite it may exist already: see {@link KeysMigration}. */
export async function createKeyTable(
  runner: QueryRunner,
  { name, columns, indices = [] }: TableShape,
): Promise<void> {
  if (isPostgres(runner) && !(await hasSchema(runner, 'keys'))) await runner.query('CREATE SCHEMA keys');
  const entries = Object.entries(columns);
  const key = entries.filter(([, { isPrimary }]) => isPrimary).map(([column]) => column);
  const parts = entries.map(([column, shape]) => definition(column, onEngine(runner, shape)));
  await runner.query(
    `CREATE TABLE IF NOT EXISTS keys.${name} (${parts.join(', ')}, PRIMARY KEY (${key.join(', ')}))`,
  );
  for (const { columnNames = [] } of indices) {
    const index = indexName(name, columnNames);
    // PostgreSQL names the schema at the table, SQLite at the index.
    const [at, of] = isPostgres(runner) ? [index, `keys.${name}`] : [`keys.${index}`, name];
    await runner.query(`CREATE INDEX IF NOT EXISTS ${at} ON ${of} (${columnNames.join(', ')})`);
  }
}

/**
 * Adds a column in place, nullable or with a default. TypeORM's schema API would copy the whole table on SQLite.
 * Existing rows are not written: both engines return the default for them.
 */
export async function addColumn(
  runner: QueryRunner,
  table: string,
  name: string,
  shape: Shape,
): Promise<void> {
  await runner.query(`ALTER TABLE ${table} ADD COLUMN ${definition(name, onEngine(runner, shape))}`);
}

/** PostgreSQL: the partitions of a table, or the table itself when it has none. They hold the rows and the settings. */
export async function partsOf(runner: QueryRunner, table: string): Promise<readonly string[]> {
  const parts = (await runner.query(
    'SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = $1::regclass ORDER BY 1',
    [table],
  )) as { name: string }[];
  return parts.length === 0 ? [table] : parts.map(({ name }) => name);
}

/** On PostgreSQL integers have 64 bits and text is compared byte by byte, as on SQLite. */
function onEngine(runner: QueryRunner, shape: Shape): Shape {
  if (!isPostgres(runner)) return shape;
  return shape.type === 'integer' ? { ...shape, type: 'bigint' } : { ...shape, collation: COLLATION };
}

function definition(name: string, { type, length, collation, isNullable, default: value }: Shape): string {
  const size = length ? `(${length})` : '';
  const order = collation ? ` COLLATE "${collation}"` : '';
  const presence = isNullable ? '' : ' NOT NULL';
  return `"${name}" ${type}${size}${order}${presence}${value === undefined ? '' : ` DEFAULT ${String(value)}`}`;
}

async function hasSchema(runner: QueryRunner, name: string): Promise<boolean> {
  const sql = 'SELECT 1 FROM pg_namespace WHERE nspname = $1';
  return ((await runner.query(sql, [name])) as unknown[]).length > 0;
}

/** TypeORM has no partitions: the table is created by SQL, and TypeORM adds its indices. */
async function createPartitioned(runner: QueryRunner, table: Table): Promise<void> {
  const columns = table.columns.map((column) => definition(column.name, column));
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
