import type { Database } from 'better-sqlite3';
import { SqliteDatabase, driverCode, KEY_TABLES } from '@app/database';

/** The result of a restore for the keys. */
export interface RestoredKeys {
  /** The number of erasures in the present ledger that the backup did not hold. */
  readonly erasures: number;
  /** The number of keys of the backup that were destroyed after it was made: they are destroyed again. */
  readonly destroyed: number;
}

/** A signing key is named by its own hash. If both files hold the same one, they are of one installation. */
const SAME = `SELECT COUNT(*) FROM service_keys JOIN present.service_keys USING (name, id) WHERE name = 'signing'`;

/**
 * Copies into the keys of a backup what must outlive it: the present ledger of erasures, the installation keys, and,
 * when the data is not restored, the keys of the data. Keys that were destroyed after the backup are then destroyed in
 * the copy, otherwise at the next start.
 * @returns undefined when the present keys cannot be read
 */
export function takePresentKeys(
  staged: string,
  present: string,
  dataStays: boolean,
): RestoredKeys | undefined {
  const database = new SqliteDatabase(staged, { fileMustExist: true, timeout: 5_000 });
  try {
    database.pragma('secure_delete = ON');
    database.pragma('synchronous = FULL');
    database.prepare('ATTACH DATABASE ? AS present').run(present);
    return merged(database, dataStays);
  } catch (error) {
    if (/^SQLITE_(NOTADB|CORRUPT)/.test(driverCode(error))) return undefined;
    throw error;
  } finally {
    database.close();
  }
}

function merged(database: Database, dataStays: boolean): RestoredKeys {
  const change = (sql: string): number => database.prepare(sql).run().changes;
  const taken = (table: keyof typeof KEY_TABLES, how: 'IGNORE' | 'REPLACE'): string => {
    const columns = database.prepare('SELECT name FROM pragma_table_info(?)').pluck().all(table).join(', ');
    return `INSERT OR ${how} INTO ${table} (${columns}) SELECT ${columns} FROM present.${table}`;
  };
  database.exec('BEGIN');
  const erasures = change(taken('erasure_ledger', 'IGNORE'));
  const gone = 'FROM subject_keys WHERE id IN (SELECT key_id FROM erasure_ledger WHERE key_id IS NOT NULL)';
  const destroyed = database.prepare(`SELECT COUNT(*) ${gone}`).pluck().get() as number;
  // With older data the next start repeats the erasures, for which it reads the ids that the keys hold.
  if (dataStays) change(`DELETE ${gone}`);
  if (dataStays) change(taken('subject_keys', 'IGNORE'));
  const same = database.prepare(SAME).pluck().get() as number;
  if (same > 0) change(taken('service_keys', 'REPLACE'));
  database.exec('COMMIT');
  return { erasures, destroyed };
}

/** The key's id in an encrypted text: a mark of two characters, a dot, 12 characters, a dot. */
const ENCRYPTED_BY = 'substr(u.value, 4, 12)';

/** The number of values whose key is neither stored nor recorded as destroyed. They cannot be read. */
export function valuesWithoutKey(data: string, keys: string): number {
  const database = new SqliteDatabase(data, { readonly: true, fileMustExist: true, timeout: 5_000 });
  try {
    database.prepare('ATTACH DATABASE ? AS keys').run(keys);
    return database
      .prepare(
        `SELECT COUNT(*) FROM user_data u WHERE (u.value LIKE 's1.%' OR u.value LIKE 's2.%')
         AND NOT EXISTS (SELECT 1 FROM keys.subject_keys k WHERE k.id = ${ENCRYPTED_BY})
         AND ${ENCRYPTED_BY} NOT IN (SELECT key_id FROM keys.erasure_ledger WHERE key_id IS NOT NULL)`,
      )
      .pluck()
      .get() as number;
  } finally {
    database.close();
  }
}
