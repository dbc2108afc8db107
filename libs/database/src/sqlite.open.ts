import type { DataSource } from 'typeorm';
import { driverCode } from './database-faults';
import { bringUpToDate } from './schema-version';
import { isFilled } from './sqlite.options';
import { StartError } from './start-error';

/**
 * Initialises the writing connection and brings the schema up to date, or checks that it is where migrations are run
 * by hand (`MIGRATE_ON_START=false`). A file that is damaged or was written by a newer Lethe is left untouched.
 * @throws StartError that says what to do.
 */
export async function openForWriting(source: DataSource, migrate: boolean): Promise<DataSource> {
  return opened(source, migrate);
}

/**
 * The same for who only reads, beside a service or without one.
 * @throws StartError where there is no database, or one whose schema is not this version's
 */
export async function openForReading(source: DataSource): Promise<DataSource> {
  const path = String(source.options.database);
  if (!isFilled(path)) throw new StartError(`There is no database at ${path}.`);
  return opened(source, false);
}

async function opened(source: DataSource, migrate: boolean): Promise<DataSource> {
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
