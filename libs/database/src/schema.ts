import type { QueryRunner, TableColumnOptions, TableIndexOptions } from 'typeorm';
import { Table, TableForeignKey, TableIndex } from 'typeorm';

type Shape = Omit<TableColumnOptions, 'name'>;

/** The column types of columns.ts, for migrations. */
export const id: Shape = { type: 'varchar', length: '36' };
export const snowflake: Shape = { type: 'varchar', length: '20' };
export const time: Shape = { type: 'varchar', length: '24' };
export const text: Shape = { type: 'text' };
export const integer: Shape = { type: 'integer' };

export const primary = (shape: Shape): Shape => ({ ...shape, isPrimary: true });
export const nullable = (shape: Shape): Shape => ({ ...shape, isNullable: true });

export interface TableShape {
  readonly name: string;
  readonly columns: Readonly<Record<string, Shape>>;
  readonly indices?: readonly Omit<TableIndexOptions, 'name'>[];
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
  const columns = Object.entries(shape.columns).map(([name, column]) => ({ name, ...column }));
  const indices = (shape.indices ?? []).map(
    (index) => new TableIndex({ ...index, name: indexName(shape.name, index.columnNames) }),
  );
  await runner.createTable(new Table({ name: shape.name, columns, indices, foreignKeys }));
}

/** One name for the index of a migration and of its entity. */
export function indexName(table: string, columns: readonly string[] = []): string {
  return `ix_${table}_${columns.join('_')}`;
}
