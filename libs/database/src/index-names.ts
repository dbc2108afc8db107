import { DefaultNamingStrategy, Table } from 'typeorm';

/** The name of an index, the same in its migration and its entity. */
export function indexName(table: string, columns: readonly string[] = []): string {
  return `ix_${table}_${columns.join('_')}`;
}

/** Gives the indexes of entities the names that migrations give them. Two indexes on the same columns need names of their own. */
export class NamingStrategy extends DefaultNamingStrategy {
  override indexName(table: Table | string, columns: string[]): string {
    return indexName(this.getTableName(table), columns);
  }
}
