import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isOfFullDisk, PlaceFault } from '@app/database';
import { isThere, StartError } from '@app/kernel';
import { folderAside } from './sqlite.aside';
import { BACKUP_PARTS, type BackupPart, manifestPath, readManifest } from './sqlite.backup';
import { isAhead, isTime } from './sqlite.backup-record';
import { restoreSqlite } from './sqlite.restore';

/** A finished backup. */
interface FoundBackup {
  readonly directory: string;
  readonly madeAt: string;
  readonly bytes: number;
}

/** The manifest of a backup cannot be used. */
export class DamagedBackup extends StartError {}

/**
 * The newest finished backup of each part: of `from`, or of the folders in it. An unfinished backup has no manifest and
 * is passed over; one whose manifest is damaged is not, since an older backup would be taken for the newest, nor one of a
 * later time than now, which would be the newest until then.
 * @throws StartError when a part has no backup; DamagedBackup for a manifest that cannot be used
 */
export function newestBackups(from: string, nowMs: number): Readonly<Record<BackupPart, FoundBackup>> {
  const found = foldersOf(from)
    .filter((directory) => isThere(manifestPath(directory)))
    .map((directory) => ({ directory, manifest: usable(directory, nowMs) }));
  const newest = (part: BackupPart): FoundBackup => {
    const [first] = found
      .filter(({ manifest }) => manifest.files[part] !== undefined)
      .sort((one, other) => (one.manifest.made_at < other.manifest.made_at ? 1 : -1));
    if (first === undefined) throw new StartError(`${from} holds no finished backup of the ${part}.`);
    const { directory, manifest } = first;
    return { directory, madeAt: manifest.made_at, bytes: manifest.files[part]?.bytes ?? 0 };
  };
  return { data: newest('data'), keys: newest('keys') };
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
  const { folder, remove } = folderAside(path, 'drill');
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
    const isOfPlace = error instanceof PlaceFault || isOfFullDisk(error);
    if (error instanceof StartError && !isOfPlace) await failed();
    throw error;
  }
}

function usable(directory: string, nowMs: number): ReturnType<typeof readManifest> {
  const manifest = read(directory);
  if (!isTime(manifest.made_at))
    throw new DamagedBackup(
      `${manifestPath(directory)} does not say when the backup was made. Take another backup, and delete this one or move it away: no drill passes it over.`,
    );
  if (isAhead(manifest.made_at, nowMs))
    throw new DamagedBackup(
      `The backup in ${directory} says ${manifest.made_at}, which is later than now: the clock was ahead when it was made, or is behind now. ` +
        'Correct the clock, and delete this backup or move it away: no later one would be taken for the newest.',
    );
  return manifest;
}

function read(directory: string): ReturnType<typeof readManifest> {
  try {
    return readManifest(directory);
  } catch (error) {
    throw new DamagedBackup((error as Error).message);
  }
}

function foldersOf(from: string): string[] {
  try {
    const inner = readdirSync(from, { withFileTypes: true })
      // The root of an ext4 disk has a folder that its owner alone can look into.
      .filter((entry) => entry.isDirectory() && entry.name !== 'lost+found')
      .map(({ name }) => join(from, name));
    return [from, ...inner];
  } catch (error) {
    throw new StartError(`${from} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}
