import { chmodSync, closeSync, lstatSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Logger } from '@nestjs/common';
import type { Database } from 'better-sqlite3';
import { adminCommand, bytesOf, isThere, makeFolder, ownAsFolder, StartError } from '@app/kernel';
import type { BetterSqlite3DataSourceOptions } from 'typeorm/driver/better-sqlite3/BetterSqlite3DataSourceOptions';
import { isOfFullDisk } from './database-faults';
import { NamingStrategy } from './index-names';
import { keysPath } from './key-tables';
import { missingDriver, OPENING_MS, SqliteDatabase, WRITING } from './sqlite.driver';

/**
 * The page cache, in KiB. Each event touches random pages of the indices, more of them as the log grows. With 16 MiB an
 * event at 5,000,000 events cost 1.4 times as much as at none; with 64 MiB it cost the same.
 */
const CACHE_KIB = { write: 65_536, read: 16_384 } as const;

/** The format of SQLite's files: https://www.sqlite.org/fileformat.html, 1.3 and 1.6. */
const MAGIC = 'SQLite format 3\0';
const FILE_HEAD = 100;
const PAGE_HEAD = 8;
const LEAF = 0x0d;
/** The place of the number of cells in the head of a page. */
const CELLS = 3;

/** Another process holds the file. Its message is for a service that starts. */
export class FileInUse extends StartError {
  constructor(readonly file: string) {
    super(
      `Another process is using ${file}. Stop it, or give this one a file of its own with DATABASE_URL; to share one, processes need PostgreSQL.`,
    );
  }
}

/**
 * How a connection to the data is opened, with the keys beside it: settings of SQLite belong here. The service writes keys by a
 * connection of its own, `SqliteKeys`.
 */
export function sqliteOptions(path: string, access: 'write' | 'read'): BetterSqlite3DataSourceOptions {
  if (missingDriver !== undefined) throw new StartError(missingDriver);
  return {
    type: 'better-sqlite3',
    driver: SqliteDatabase,
    database: resolve(path),
    namingStrategy: new NamingStrategy(),
    readonly: access === 'read',
    timeout: OPENING_MS,
    prepareDatabase: (opened: unknown) => {
      const database = opened as Database;
      try {
        prepare(database, path, access);
      } catch (error) {
        // TypeORM does not close it.
        database.close();
        throw error;
      }
    },
  };
}

function prepare(database: Database, path: string, access: 'write' | 'read'): void {
  const set = (...pragmas: string[]): void => pragmas.forEach((pragma) => database.pragma(pragma));
  if (access === 'write') set('journal_mode = WAL');
  set(...WRITING, 'foreign_keys = ON', 'temp_store = MEMORY');
  set(`cache_size = -${CACHE_KIB[access]}`);
  // The keys of the subjects are in a separate file, `keys` in every statement. It is as durable as the data.
  const keys = keysPath(resolve(path));
  // A database that was never opened for writing has no keys yet.
  if (access === 'read' && !isThere(keys)) return;
  database.prepare('ATTACH DATABASE ? AS keys').run(keys);
  if (access === 'write') set('keys.journal_mode = WAL');
  set(...WRITING.map((pragma) => `keys.${pragma}`));
}

/**
 * Locks the files of data and keys for this process until the process ends, by an SQLite lock on a file beside each,
 * which the kernel releases. Creates the directory and the files, readable by their owner only.
 * @throws StartError when another process holds a file, a file has further names, the directory cannot be written, or the file
 * is to be used although a restore of it was interrupted.
 */
export function lockFile(path: string, purpose: 'use' | 'restore' = 'use'): () => void {
  const locks: (() => void)[] = [];
  const release = (): void => locks.forEach((unlock) => unlock());
  try {
    for (const file of [resolve(path), keysPath(resolve(path))]) locks.push(lockOne(file));
    if (purpose === 'use') {
      requireWhole(path);
      // What a restore that was killed while it prepared has left: data and keys that no erasure reaches.
      rmSync(restoringPath(path), { recursive: true, force: true });
    }
    return release;
  } catch (error) {
    release();
    throw error;
  }
}

/** @throws StartError when a restore of the file was interrupted */
export function requireWhole(path: string): void {
  if (!isThere(join(restoringPath(path), 'ready.json'))) return;
  throw new StartError(
    `A restore of ${path} was interrupted. Run it again to its end: ${adminCommand('restore --from DIR')}.`,
  );
}

/** What mends a missing database, on either engine. */
export const WITHOUT_DATABASE =
  'Look at DATABASE_URL and at the folder of this command; if the database is lost, restore a backup.';

/** @throws StartError for a missing file, one without tables, or one with further names */
export function requireFilled(path: string): void {
  if (!isFilled(path)) throw new StartError(`There is no database at ${path}. ${WITHOUT_DATABASE}`);
  requireOneName(path);
}

/**
 * SQLite keeps the log of a file beside its name, and the lock of a process is there too: under another name the file
 * would lack its log, and two processes would write it.
 * @throws StartError for a symbolic link, and for a file with further names
 */
function requireOneName(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isSymbolicLink() === true)
    throw new StartError(
      `${path} is a symbolic link. Name the file itself with DATABASE_URL=sqlite:PATH; keys and log are beside it.`,
    );
  if (found?.isFile() === true && found.nlink > 1)
    throw new StartError(
      `${path} has ${found.nlink} names (hard links), under which several processes could write it. Remove the others, or use a copy of the file.`,
    );
}

/**
 * Whether the file holds tables, or can hold some: a damaged one does. A start that was refused leaves an empty file, or one page
 * without a table. The file is read without SQLite, which leaves a log beside it.
 */
export function isFilled(path: string): boolean {
  if ((bytesOf(path) ?? 0) === 0) return false;
  return (bytesOf(`${path}-wal`) ?? 0) > 0 || !isWithoutTables(path);
}

/** The first page of a SQLite file lists its tables. The head of the page says how many. What cannot be read is left to SQLite. */
function isWithoutTables(path: string): boolean {
  const head = Buffer.alloc(FILE_HEAD + PAGE_HEAD);
  try {
    const file = openSync(path, 'r');
    try {
      readSync(file, head, 0, head.length, 0);
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
  const isLeaf = head[FILE_HEAD] === LEAF && head.toString('latin1', 0, MAGIC.length) === MAGIC;
  return isLeaf && head.readUInt16BE(FILE_HEAD + CELLS) === 0;
}

/** The directory in which a restore is prepared. It exists until the restore is in place. */
export function restoringPath(path: string): string {
  return `${resolve(path)}.restoring`;
}

function lockOne(file: string): () => void {
  const lockPath = `${file}.lock`;
  try {
    makeFolder(dirname(file));
    for (const one of [file, lockPath]) requireOneName(one);
    const isNew = !isThere(file);
    closeSync(openSync(file, 'a', 0o600));
    // SQLite makes the files beside it for the same owner.
    if (isNew) ownAsFolder(file);
    for (const suffix of ['', '-wal', '-shm']) restrict(file + suffix);
    return lockBeside(lockPath);
  } catch (error) {
    if (error instanceof StartError) throw error;
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    if (code.startsWith('SQLITE_BUSY')) throw new FileInUse(file);
    if (isOfFullDisk(error))
      throw new StartError(`The disk of ${file} is full (${code}). Make room on it, then start again.`, {
        cause: error,
      });
    if (isThere(file) && isThere(lockPath))
      throw new StartError(
        `${file} cannot be opened for writing (${code}). Give the user that runs Lethe write access to it and to the files beside it.`,
      );
    // If a file is missing, the directory is the one that cannot be written.
    const directory = dirname(file);
    throw new StartError(
      `The data directory ${directory} cannot be ${isThere(directory) ? 'written' : 'made'} (${code}). ` +
        'Make it writable for the user that runs Lethe, or name another one with DATABASE_URL=sqlite:PATH.',
    );
  }
}

/** Locks a file, which it makes, until the process ends or the result is called: the kernel releases the lock. */
export function lockBeside(path: string): () => void {
  const lock = new SqliteDatabase(path, { timeout: 0 });
  try {
    chmodSync(path, 0o600);
    ownAsFolder(path);
    lock.pragma('journal_mode = DELETE');
    lock.exec('BEGIN EXCLUSIVE');
    return () => lock.close();
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** Takes every right from others than the owner, which a copied file can have. Reports a file of another owner. */
function restrict(file: string): void {
  const { mode = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {};
  if ((mode & 0o077) === 0) return;
  try {
    chmodSync(file, 0o600);
  } catch {
    new Logger('Database').warn(`Others than its owner can open ${file}: restrict it with chmod 600.`);
  }
}

/**
 * Moves the rest of the write-ahead log into the file, which is then complete. The writer does so when it is the last
 * connection to close. It cannot while readers are open, and a reader that closes last cannot either.
 */
export function foldLog(path: string): void {
  for (const file of [resolve(path), keysPath(resolve(path))]) {
    const database = new SqliteDatabase(file, { fileMustExist: true, timeout: OPENING_MS });
    try {
      database.pragma('schema_version');
      // A reader that stays open is not waited for.
      database.pragma('busy_timeout = 0');
      database.pragma('wal_checkpoint(TRUNCATE)');
    } finally {
      database.close();
    }
  }
}
