import type { DataSource } from 'typeorm';
import { StartError } from '@app/kernel';
import { driverCode, isDamage } from './database-faults';
import type { Access } from './database.engine';
import { keysPath } from './key-tables';
import { bringUpToDate } from './schema-version';
import { OPENING_MS, SqliteDatabase } from './sqlite.driver';

/**
 * Initialises the connection and brings the schema up to date, or only checks that it is, as `access` says. A damaged
 * file, or one of a newer Lethe, stays untouched.
 */
export async function openSource(source: DataSource, access: Access): Promise<DataSource> {
  try {
    await source.initialize();
    await bringUpToDate(source, access);
    return source;
  } catch (error) {
    if (source.isInitialized) await source.destroy();
    throw error;
  }
}

/** The error of an SQLite database that cannot be opened, as a {@link StartError} with the remedy where one is known. */
export function openingFault(error: unknown, path: string): unknown {
  const code = driverCode(error);
  if (/^SQLITE_(NOTADB|CORRUPT)/.test(code))
    return new StartError(
      `${damagedOf(path)} is damaged or no SQLite database. It was left untouched; restore a backup.`,
    );
  if (code.startsWith('SQLITE_BUSY'))
    return new StartError(
      `Another program has locked ${path} or the keys beside it. End what writes it, then start again.`,
    );
  if (/^SQLITE_(IOERR|CANTOPEN|READONLY|FULL|PERM)/.test(code))
    return new StartError(
      `${path} or the keys beside it cannot be read or written (${code}). Check the disk, its room, and the rights of the user that runs Lethe, then start again.`,
    );
  return error;
}

/** The damaged file: the keys, which are small and are checked, or else the data. */
function damagedOf(path: string): string {
  const keys = keysPath(path);
  try {
    const database = new SqliteDatabase(keys, { readonly: true, timeout: OPENING_MS });
    try {
      return database.pragma('quick_check(1)', { simple: true }) === 'ok' ? path : keys;
    } finally {
      database.close();
    }
  } catch (error) {
    return isDamage(error) ? keys : path;
  }
}
