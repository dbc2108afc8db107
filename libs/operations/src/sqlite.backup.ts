import { closeSync, mkdirSync, openSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SqliteDatabase, keysPath, requireFilled } from '@app/database';
import { StartError } from '@app/kernel';
import {
  BACKUP_PARTS,
  type BackupFile,
  type BackupManifest,
  type BackupPart,
  digestOf,
  fileName,
  FORMAT,
  syncFile,
  writeManifest,
} from './backup-manifest';

/** The path of each part of an SQLite database. */
export function partPath(path: string, part: BackupPart): string {
  return part === 'data' ? resolve(path) : keysPath(resolve(path));
}

/**
 * Copies a database while the service may run and write. The data is copied before the keys. A value in the copy
 * therefore has its key, unless its subject was erased meanwhile, which the copied ledger records. Every file is
 * verified and readable by its owner only.
 * @throws StartError with the remedy; an incomplete backup is deleted.
 */
export async function backUpSqlite(
  path: string,
  directory: string,
  parts: readonly BackupPart[],
  now: string,
): Promise<BackupManifest> {
  for (const part of parts) requireFilled(partPath(path, part));
  makeEmpty(directory);
  try {
    const files: Partial<Record<BackupPart, BackupFile>> = {};
    for (const part of BACKUP_PARTS.filter((one) => parts.includes(one)))
      files[part] = await copied(partPath(path, part), directory, fileName(part));
    const manifest: BackupManifest = { format: FORMAT, made_at: now, files };
    await writeManifest(directory, manifest);
    return manifest;
  } catch (error) {
    for (const name of readdirSync(directory)) rmSync(join(directory, name), { force: true });
    throw translated(error, directory);
  }
}

/**
 * Checks that a file is sound and has no log beside it.
 * @throws StartError for a damaged file
 */
export function requireSound(path: string): void {
  const database = new SqliteDatabase(path, { fileMustExist: true, timeout: 5_000 });
  try {
    database.pragma('journal_mode = DELETE');
    const found = database.pragma('integrity_check(1)', { simple: true });
    if (found !== 'ok') throw new StartError(`${path} is damaged: ${String(found)}.`);
  } finally {
    database.close();
  }
}

async function copied(source: string, directory: string, name: string): Promise<BackupFile> {
  const target = join(directory, name);
  closeSync(openSync(target, 'wx', 0o600));
  const database = new SqliteDatabase(source, { readonly: true, fileMustExist: true, timeout: 5_000 });
  try {
    // All pages are copied in one step. Between several steps a write of the service would restart the copy.
    await database.backup(target, { progress: () => 0x7fffffff });
  } finally {
    database.close();
  }
  requireSound(target);
  await syncFile(target);
  return { name, bytes: statSync(target).size, sha256: await digestOf(target) };
}

function makeEmpty(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    if (readdirSync(directory).length === 0) return;
  } catch (error) {
    throw translated(error, directory);
  }
  throw new StartError(`${directory} is not empty: a backup needs a directory of its own.`);
}

function translated(error: unknown, directory: string): unknown {
  if (error instanceof StartError) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) return error;
  return new StartError(`The backup could not be written to ${directory} (${code}). Nothing of it is left.`);
}
