import { indexName } from './schema';
import type { Tx } from './tx';

/**
 * Follows the name of a table. Keeps SQLite to an index while pages are read: with statistics, which `db:move` leaves, it
 * may read and sort the whole table for each page. PostgreSQL takes the index by itself.
 */
export function byIndex({ engine }: Pick<Tx, 'engine'>, table: string, columns: readonly string[]): string {
  return engine === 'sqlite' ? `INDEXED BY ${indexName(table, columns)}` : '';
}
