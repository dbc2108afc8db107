import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Database } from 'better-sqlite3';
import { SqliteDatabase } from '@app/database';
import { isThere, ownAsFolder, StartError } from '@app/kernel';
import { BACKUP_PARTS, type BackupPart, isTime, manifestPath, readManifest } from './sqlite.backup';
import { restoreSqlite } from './sqlite.restore';

/** A finished backup. */
interface FoundBackup {
  readonly directory: string;
  readonly madeAt: string;
  readonly bytes: number;
}

const LOCK = 'drill.lock';

/** The manifest of a backup cannot be used. */
export class DamagedBackup extends StartError {}

/**
 * The newest finished backup of each part: of `from`, or of the folders in it. An unfinished backup has no manifest and
 * is passed over; one whose manifest is damaged is not, since an older backup would be taken for the newest.
 * @throws StartError when a part has no backup; DamagedBackup for a manifest that cannot be used
 */
export function newestBackups(from: string): Readonly<Record<BackupPart, FoundBackup>> {
  const found = foldersOf(from)
    .filter((directory) => isThere(manifestPath(directory)))
    .map((directory) => ({ directory, manifest: usable(directory) }));
  const newest = (part: BackupPart): FoundBackup => {
    const [first] = found
      .filter(({ manifest }) => manifest.files[part] !== undefined && isTime(manifest.made_at))
      .sort((one, other) => (one.manifest.made_at < other.manifest.made_at ? 1 : -1));
    if (first === undefined) throw new StartError(`${from} holds no finished backup of the ${part}.`);
    const { directory, manifest } = first;
    return { directory, madeAt: manifest.made_at, bytes: manifest.files[part]?.bytes ?? 0 };
  };
  return { data: newest('data'), keys: newest('keys') };
}

/**
 * Removes the folders that killed drills have left beside the database, and returns their paths. The folder of a running
 * drill is locked and stays.
 */
export function sweepDrills(path: string): string[] {
  const parent = dirname(resolve(path));
  const prefix = prefixOf(path);
  if (!isThere(parent)) return [];
  const left = readdirSync(parent)
    .map((name) => join(parent, name))
    .filter((path) => path.startsWith(prefix) && statSync(path).isDirectory() && !isLocked(join(path, LOCK)));
  for (const folder of left) rmSync(folder, { recursive: true, force: true });
  return left;
}

/**
 * Restores backups into a new folder beside the database, which only its owner can open. Digests, soundness of the files
 * and the keys of all values are checked as by every restore. The real database is not opened. `remove` removes the folder.
 * @param failed called where the backup cannot be restored
 * @throws StartError, with the folder removed
 */
export async function restoreAside(
  path: string,
  found: Readonly<Record<BackupPart, FoundBackup>>,
  now: string,
  failed: () => Promise<void>,
): Promise<{ readonly path: string; readonly remove: () => void }> {
  const { folder, lock } = newFolder(path);
  const remove = (): void => {
    lock.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const copy = join(folder, 'data.db');
    // The keys first: the restore of the data then compares both.
    for (const part of [...BACKUP_PARTS].reverse())
      await restoreSqlite({
        path: copy,
        from: found[part].directory,
        parts: [part],
        force: false,
        acceptLoss: false,
        now,
      });
    return { path: copy, remove };
  } catch (error) {
    remove();
    // Any other error, as of a full disk, is none of the backup.
    if (error instanceof StartError) await failed();
    throw error;
  }
}

function usable(directory: string): ReturnType<typeof readManifest> {
  try {
    return readManifest(directory);
  } catch (error) {
    throw new DamagedBackup((error as Error).message);
  }
}

function foldersOf(from: string): string[] {
  try {
    const inner = readdirSync(from, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(from, name));
    return [from, ...inner];
  } catch (error) {
    throw new StartError(`${from} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

function prefixOf(path: string): string {
  return join(dirname(resolve(path)), `${basename(path)}.drill-`);
}

function newFolder(path: string): { readonly folder: string; readonly lock: Database } {
  try {
    const folder = mkdtempSync(prefixOf(path));
    ownAsFolder(folder);
    return { folder, lock: locked(join(folder, LOCK)) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(`No folder for the drill can be made beside ${path} (${code}).`);
  }
}

/** An SQLite lock, which the kernel releases when the process ends. */
function locked(file: string): Database {
  const lock = new SqliteDatabase(file, { timeout: 0 });
  try {
    lock.pragma('journal_mode = DELETE');
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    throw error;
  }
}

function isLocked(file: string): boolean {
  try {
    locked(file).close();
    return false;
  } catch {
    return true;
  }
}
