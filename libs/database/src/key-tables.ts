import { statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { DataSource } from 'typeorm';
import { adminCommand, type Config, realFile, StartError } from '@app/kernel';
import { driverCode } from './database-faults';
import type { UnitOfWork } from './unit-of-work';

/**
 * The tables of keys, and of records that must outlive the data, each with the columns of its primary key. On SQLite
 * they are in a file of their own, on PostgreSQL in a schema of their own, each with separate backups. The prefix
 * `keys.` addresses them on both engines.
 *
 * - `keys.subject_keys`: the key of each subject with the ids of the subject, encrypted by the keyring;
 * - `keys.service_keys`: the keys of the installation, encrypted by the keyring; `public_part` is the public part of a
 *   signing key;
 * - `keys.erasure_ledger`: the erased subjects, by keyed digests, so that a restored backup cannot bring them back;
 *   an entry whose request is its bot says that the keys were destroyed with the bot.
 */
export const KEY_TABLES = {
  subject_keys: ['id'],
  service_keys: ['name', 'id'],
  erasure_ledger: ['bot_id', 'request_id'],
} as const;

/**
 * The file of the keys beside the data: `keys.db` for `lethe.db`, else `NAME.keys.db`, so that two databases never
 * share a file. It may be a symbolic link to a file on another disk; this is the path of that file.
 */
export function keysPath(path: string): string {
  return realFile(keysName(path));
}

/** The name of the file of the keys, which may be a symbolic link. */
export function keysName(path: string): string {
  const name = basename(path).replace(/\.db$/, '');
  return join(dirname(path), name === 'lethe' ? 'keys.db' : `${name}.keys.db`);
}

/** @throws StartError for data without keys, which cannot be read */
export async function requireKeyTables(source: DataSource): Promise<void> {
  try {
    await source.query('SELECT 1 FROM keys.subject_keys LIMIT 1');
  } catch (error) {
    requireAbsence(error);
    throw new StartError(
      source.options.type === 'postgres'
        ? 'The schema "keys" of the database is missing: restore it from its backup. Without it no stored data can be read.'
        : `${keysPath(String(source.options.database))} is missing or empty: restore it from its backup. Without it no stored data can be read.`,
    );
  }
}

/** @throws the error, unless it says that there is no such table or schema: what cannot be read is not absent */
function requireAbsence(error: unknown): [] {
  const isAbsent =
    /^(42P01|3F000)$/.test(driverCode(error)) || /no such table/.test((error as Error).message);
  if (!isAbsent) throw error;
  return [];
}

/** @throws StartError for keys in use beside a database without data, in which a new installation would begin */
export async function requireUnusedKeys(source: DataSource): Promise<void> {
  // Every installation has such a row. At a first start the table does not exist.
  const rows = await source
    .query<unknown[]>('SELECT 1 FROM keys.service_keys LIMIT 1')
    // A user without the right to read them has no right to change the schema either, which is said next.
    .catch((error: unknown) => (driverCode(error) === '42501' ? [] : requireAbsence(error)));
  if (rows.length === 0) return;
  const path = String(source.options.database);
  throw new StartError(
    source.options.type === 'postgres'
      ? 'The database holds no data, but its schema "keys" holds the keys of an installation. Restore the data from its backup; or, to begin anew, use an empty database.'
      : `${path} holds no data, but ${keysPath(path)} holds the keys of an installation. Restore the data: ${adminCommand('restore --from DIR --only data --force')}. ` +
          `Or, to begin anew, give ${keysPath(path)} another name.`,
  );
}

/** The bytes of a database: of both SQLite files with their logs, or what PostgreSQL reports. */
export async function databaseBytes(
  unitOfWork: UnitOfWork,
  { database }: Pick<Config, 'database'>,
): Promise<number> {
  if (database.engine === 'sqlite') return fileBytes(database.path);
  const row = await unitOfWork.snapshot((tx) =>
    tx.get<{ bytes: number }>('SELECT pg_database_size(current_database()) AS bytes'),
  );
  return row?.bytes ?? 0;
}

function fileBytes(path: string): number {
  const files = [resolve(path), keysPath(resolve(path))].flatMap((file) => [file, `${file}-wal`]);
  return files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);
}
