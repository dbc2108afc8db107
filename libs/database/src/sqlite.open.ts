import type { DataSource } from 'typeorm';
import { StartError } from '@app/kernel';
import { driverCode } from './database-faults';
import type { Access } from './database.engine';
import { bringUpToDate } from './schema-version';

/**
 * Initialises the connection and brings the schema up to date, or only checks that it is, as `access` says. A damaged
 * file, or one of a newer Lethe, stays untouched.
 * @throws StartError with the remedy.
 */
export async function openSource(source: DataSource, access: Access): Promise<DataSource> {
  try {
    await source.initialize();
    await bringUpToDate(source, access);
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
