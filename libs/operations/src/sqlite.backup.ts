import { createHash } from 'node:crypto';
import { closeSync, createReadStream, openSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import {
  driverCode,
  isDamage,
  keysPath,
  openingFault,
  requireFilled,
  SqliteDatabase,
  withSqliteFile,
} from '@app/database';
import { isThere, makeFolder, ownAsFolder, StartError, writeWhole } from '@app/kernel';

/** A part of a database. Each has a backup policy of its own, since only the keys make the data readable. */
export type BackupPart = 'data' | 'keys';

/** The order of the copies: the keys are copied last, so that every copied value has its key. */
export const BACKUP_PARTS: readonly BackupPart[] = ['data', 'keys'];

interface BackupFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** The manifest beside the files of a backup. It is written last: a backup without a manifest is not complete. */
export interface BackupManifest {
  readonly format: typeof FORMAT;
  readonly made_at: string;
  readonly files: Readonly<Partial<Record<BackupPart, BackupFile>>>;
}

const FORMAT = 'lethe-backup/1';
const NAME = 'manifest.json';
/** The files of a backup that was killed. */
const UNFINISHED = /^((data|keys)\.db(-journal|-wal|-shm)?|manifest\.json\.next)$/;

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
  const made = makeEmpty(resolve(directory));
  try {
    const files: Partial<Record<BackupPart, BackupFile>> = {};
    for (const part of BACKUP_PARTS.filter((one) => parts.includes(one)))
      files[part] = await copied(partPath(path, part), directory, fileName(part));
    const manifest: BackupManifest = { format: FORMAT, made_at: now, files };
    writeWhole(manifestPath(directory), `${JSON.stringify(manifest, null, 2)}\n`);
    for (const folder of made) await syncDirectory(dirname(folder));
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
  const found = soundness(path);
  if (found !== 'ok') throw new StartError(`${path} is damaged: ${found}.`);
}

/** `ok`, or what is wrong with the file. */
function soundness(path: string): string {
  try {
    return withSqliteFile(path, 'write', (database) => {
      database.pragma('journal_mode = DELETE');
      return String(database.pragma('integrity_check(1)', { simple: true }));
    });
  } catch (error) {
    if (isDamage(error)) return driverCode(error);
    throw error;
  }
}

async function copied(source: string, directory: string, name: string): Promise<BackupFile> {
  const target = join(directory, name);
  closeSync(openSync(target, 'wx', 0o600));
  ownAsFolder(target);
  const database = openSource(source);
  try {
    // All pages are copied in one step. Between several steps a write of the service would restart the copy.
    await database.backup(target, { progress: () => 0x7fffffff });
    const found = soundness(target);
    if (found !== 'ok') {
      const isSourceSound = database.pragma('integrity_check(1)', { simple: true }) === 'ok';
      throw isSourceSound ? damagedCopy(target, found) : damaged(source, found);
    }
  } catch (error) {
    throw isDamage(error) ? damaged(source, driverCode(error)) : error;
  } finally {
    database.close();
  }
  await syncFile(target);
  return { name, bytes: statSync(target).size, sha256: await digestOf(target) };
}

/** What is at fault here is the database, and not the folder of the backup. @throws StartError */
function openSource(source: string): InstanceType<typeof SqliteDatabase> {
  let database: InstanceType<typeof SqliteDatabase> | undefined;
  try {
    database = new SqliteDatabase(source, { readonly: true, fileMustExist: true, timeout: 5_000 });
    database.pragma('schema_version');
    return database;
  } catch (error) {
    database?.close();
    throw isDamage(error) ? damaged(source, driverCode(error)) : openingFault(error, source);
  }
}

function damaged(source: string, found: string): StartError {
  return new StartError(
    `${source} is damaged (${found}), so that no backup of it can be made. Stop the service, keep its files, check the disk, and restore an earlier backup.`,
  );
}

function damagedCopy(target: string, found: string): StartError {
  return new StartError(
    `The copy in ${target} is damaged (${found}), and the database is not. Nothing of it is left. Check the disk of the folder, or name a folder on another one.`,
  );
}

/** Makes a directory with those above it, unless it is there and empty. Returns the new ones, whose entries are not flushed yet. */
function makeEmpty(directory: string): string[] {
  try {
    const made = makeFolder(directory);
    const names = readdirSync(directory);
    if (names.length === 0) return made;
    if (names.every((name) => UNFINISHED.test(name)))
      throw new StartError(
        `${directory} holds an unfinished backup, without ${NAME}. If no backup is being made there now, delete it and run the command again.`,
      );
  } catch (error) {
    throw translated(error, directory);
  }
  throw new StartError(`${directory} is not empty: a backup needs a directory of its own.`);
}

function translated(error: unknown, directory: string): unknown {
  if (error instanceof StartError) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) return error;
  const remedy = ['EACCES', 'EPERM'].includes(code)
    ? ' Name a folder in one that the user of this command can write to, or make one once: sudo install -d -o USER -m 700 FOLDER.'
    : '';
  return new StartError(
    `The backup could not be written to ${directory} (${code}). Nothing of it is left.${remedy}`,
  );
}

/** The file that makes a backup complete. */
export function manifestPath(directory: string): string {
  return join(directory, NAME);
}

/** @throws StartError for a directory without a complete backup */
export function readManifest(directory: string): BackupManifest {
  const path = manifestPath(directory);
  let manifest: Partial<BackupManifest>;
  if (!isThere(path)) throw new StartError(`${directory} holds no finished backup: ${NAME} is missing.`);
  try {
    manifest = JSON.parse(readFileSync(path, 'utf8')) as Partial<BackupManifest>;
  } catch {
    throw new StartError(`${path} is damaged or cannot be read. Take another backup.`);
  }
  if (manifest.format !== FORMAT || manifest.files === undefined)
    throw new StartError(`${path} is of a format that this Lethe does not know.`);
  for (const [part, file] of Object.entries(manifest.files))
    if (file.name !== fileName(part))
      throw new StartError(`${path} names a file that no backup has: ${file.name}.`);
  return manifest as BackupManifest;
}

function fileName(part: string): string {
  return `${part}.db`;
}

/** @throws StartError when a file of the backup has changed since it was written */
export async function requireUnchanged(directory: string, { name, sha256 }: BackupFile): Promise<void> {
  const path = join(directory, name);
  const found = await digestOf(path).catch(() => undefined);
  if (found === sha256) return;
  throw new StartError(
    `${path} is ${found === undefined ? 'missing or cannot be read' : 'not what the backup has written'}. Nothing was changed; take another backup.`,
  );
}

async function digestOf(path: string): Promise<string> {
  const digest = createHash('sha256');
  for await (const chunk of createReadStream(path)) digest.update(chunk as Buffer);
  return digest.digest('hex');
}

/** Flushes a directory, so that renamed and created files in it survive a power cut. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  await directory.sync();
  await directory.close();
}

/** Flushes a file and its entry in the directory. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+');
  await file.sync();
  await file.close();
  await syncDirectory(dirname(path));
}
