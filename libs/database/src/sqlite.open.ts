import type { DataSource } from 'typeorm';
import { StartError } from '@app/kernel';
import { driverCode } from './database-faults';
import { bringUpToDate } from './schema-version';

/**
 * Initialises the connection and brings the schema up to date, or checks that it is where migrations are run
 * by hand (`MIGRATE_ON_START=false`). A file that is damaged or was written by a newer Lethe is left untouched.
 * @throws StartError that says what to do.
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
