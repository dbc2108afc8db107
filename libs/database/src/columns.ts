import { applyDecorators } from '@nestjs/common';
import { Column, ColumnOptions, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';

type Options = Pick<ColumnOptions, 'name' | 'nullable' | 'default'>;
type PrimaryOptions = Pick<ColumnOptions, 'name'>;

/** Column types that mean the same on every engine. */
export const IdColumn = (options: Options = {}): PropertyDecorator =>
  Column({ type: 'varchar', length: '36', ...options });
export const PrimaryIdColumn = (options: PrimaryOptions = {}): PropertyDecorator =>
  PrimaryColumn({ type: 'varchar', length: '36', ...options });
/** A snowflake, as text, since a JavaScript number cannot hold 64 bits. */
export const SnowflakeColumn = (options: Options = {}): PropertyDecorator =>
  Column({ type: 'varchar', length: '20', ...options });
/** A keyed digest in the place of the id of a user or guild: a text as long as the longest snowflake. */
export const DigestColumn = SnowflakeColumn;
export const PrimaryDigestColumn = (options: PrimaryOptions = {}): PropertyDecorator =>
  PrimaryColumn({ type: 'varchar', length: '20', ...options });
export const TextColumn = (options: Options = {}): PropertyDecorator => Column({ type: 'text', ...options });
/** ISO 8601, UTC, milliseconds: the same text on both engines, and its order is the order of time. */
export const TimeColumn = (options: Options = {}): PropertyDecorator =>
  Column({ type: 'varchar', length: '24', ...options });
export const IntegerColumn = (options: Options = {}): PropertyDecorator =>
  Column({ type: 'integer', ...options });
/** JSON as text: `jsonb` would reorder keys. */
export const JsonColumn = (options: Options = {}): PropertyDecorator =>
  applyDecorators(
    Column({
      type: 'text',
      ...options,
      transformer: { to: json, from: parsed },
    }),
  );

/** The row belongs to a bot and is deleted with it. `table` names the foreign key as createBotTable does. */
export const BelongsToBot = (table: string): PropertyDecorator =>
  applyDecorators(
    ManyToOne('Bot', { onDelete: 'CASCADE' }),
    JoinColumn({ name: 'bot_id', foreignKeyConstraintName: `fk_${table}_bot` }),
  );

/** The text of a {@link JsonColumn}. */
export function json(value: unknown): string | null {
  return value == null ? null : JSON.stringify(value);
}

/** The value of a text of {@link json}. */
export function parsed<T>(text: string | null): T | null {
  return text === null ? null : (JSON.parse(text) as T);
}
