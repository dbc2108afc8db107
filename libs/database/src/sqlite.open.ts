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
        `${damagedOf(String(source.options.database))} is damaged or no SQLite database. It was left untouched; restore a backup.`,
      );
    }
    if (driverCode(error).startsWith('SQLITE_BUSY')) {
      throw new StartError(
        `Another program has locked ${String(source.options.database)} or the keys beside it. End what writes it, then start again.`,
      );
    }
    throw error;
  }
}

/** The damaged file: the keys, which are small and are checked, or else the data. */
function damagedOf(path: string): string {
  const keys = keysPath(path);
  const database = new SqliteDatabase(keys, { readonly: true, timeout: OPENING_MS });
  try {
    return database.pragma('quick_check(1)', { simple: true }) === 'ok' ? path : keys;
  } catch (error) {
    return isDamage(error) ? keys : path;
  } finally {
    database.close();
  }
}
