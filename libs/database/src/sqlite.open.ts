import type { DataSource } from 'typeorm';
import { StartError } from '@app/kernel';
import { driverCode } from './database-faults';
import { bringUpToDate } from './schema-version';

/**
 * Initialises the connection and brings the schema up to date. With `migrate` false (`MIGRATE_ON_START=false`) it only
 * checks that the schema is up to date. A damaged file, or one of a newer Lethe, stays untouched.
 * @throws StartError with the remedy.
 */
export async function openSource(source: DataSource, migrate: boolean): Promise<DataSource> {
  try {
    await source.initialize();
    await bringUpToDate(source, migrate);
    return source;
  } catch (error) {
    if (source.isInitialized) await source.destroy();
    if (/^SQLITE_(NOTADB|CORRUPT)/.test(driverCode(error))) {
      throw new StartError(
        `${String(source.options.database)} is damaged or no SQLite database. It was left untouched; restore a backup.`,
      );
    }
    throw error;
  }
}
