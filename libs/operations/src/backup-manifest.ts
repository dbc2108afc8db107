import { createHash } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StartError } from '@app/kernel';

/** What a backup is of: each has its own policy, since the keys alone make the data readable. */
export type BackupPart = 'data' | 'keys';

/** In this order they are copied: a key that a value needs is older than the value. */
export const BACKUP_PARTS: readonly BackupPart[] = ['data', 'keys'];

export interface BackupFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** What stands beside the files of a backup; written last, so that a backup without one is none. */
export interface BackupManifest {
  readonly format: typeof FORMAT;
  readonly made_at: string;
  readonly files: Readonly<Partial<Record<BackupPart, BackupFile>>>;
}

export const FORMAT = 'lethe-backup/1';
const NAME = 'manifest.json';

export async function writeManifest(directory: string, manifest: BackupManifest): Promise<void> {
  const path = join(directory, NAME);
  const file = await open(`${path}.next`, 'wx', 0o600);
  await file.writeFile(`${JSON.stringify(manifest, null, 2)}\n`);
  await file.sync();
  await file.close();
  await rename(`${path}.next`, path);
  await syncDirectory(directory);
}

/** @throws StartError for a directory that holds no backup, or one that was not finished */
export function readManifest(directory: string): BackupManifest {
  let manifest: Partial<BackupManifest>;
  try {
    manifest = JSON.parse(readFileSync(join(directory, NAME), 'utf8')) as Partial<BackupManifest>;
  } catch {
    throw new StartError(`${directory} holds no finished backup: ${NAME} is missing or damaged.`);
  }
  if (manifest.format !== FORMAT || manifest.files === undefined)
    throw new StartError(`${join(directory, NAME)} is of a format that this Lethe does not know.`);
  return manifest as BackupManifest;
}

/** @throws StartError when a file of the backup is not what was written */
export async function requireUnchanged(directory: string, { name, sha256 }: BackupFile): Promise<void> {
  const path = join(directory, name);
  const found = await digestOf(path).catch(() => undefined);
  if (found === sha256) return;
  throw new StartError(
    `${path} is ${found === undefined ? 'missing' : 'not what the backup has written'}. Nothing was changed; take another backup.`,
  );
}

export async function digestOf(path: string): Promise<string> {
  const digest = createHash('sha256');
  for await (const chunk of createReadStream(path)) digest.update(chunk as Buffer);
  return digest.digest('hex');
}

/** What was renamed or created in it stays so over a power cut. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  await directory.sync();
  await directory.close();
}

/** The contents of a file, and its name, are on the disk. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+');
  await file.sync();
  await file.close();
  await syncDirectory(dirname(path));
}
