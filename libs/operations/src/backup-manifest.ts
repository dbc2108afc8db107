import { createHash } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isThere, StartError } from '@app/kernel';

/**
 * The part of a database that a backup holds. Each part has its own policy, since only the keys make the data readable.
 */
export type BackupPart = 'data' | 'keys';

/** The order of the copies: the keys are copied last, so that every copied value has its key. */
export const BACKUP_PARTS: readonly BackupPart[] = ['data', 'keys'];

export interface BackupFile {
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

export const FORMAT = 'lethe-backup/1';
const NAME = 'manifest.json';

/** The file that makes a backup complete. */
export function manifestPath(directory: string): string {
  return join(directory, NAME);
}

export async function writeManifest(directory: string, manifest: BackupManifest): Promise<void> {
  const path = manifestPath(directory);
  const file = await open(`${path}.next`, 'wx', 0o600);
  await file.writeFile(`${JSON.stringify(manifest, null, 2)}\n`);
  await file.sync();
  await file.close();
  await rename(`${path}.next`, path);
  await syncDirectory(directory);
}

/** @throws StartError for a directory without a complete backup */
export function readManifest(directory: string): BackupManifest {
  let manifest: Partial<BackupManifest>;
  if (!isThere(manifestPath(directory)))
    throw new StartError(`${directory} holds no finished backup: ${NAME} is missing.`);
  try {
    manifest = JSON.parse(readFileSync(join(directory, NAME), 'utf8')) as Partial<BackupManifest>;
  } catch {
    throw new StartError(`${manifestPath(directory)} is damaged or cannot be read. Take another backup.`);
  }
  if (manifest.format !== FORMAT || manifest.files === undefined)
    throw new StartError(`${join(directory, NAME)} is of a format that this Lethe does not know.`);
  for (const [part, file] of Object.entries(manifest.files))
    if (file.name !== fileName(part))
      throw new StartError(`${join(directory, NAME)} names a file that no backup has: ${file.name}.`);
  return manifest as BackupManifest;
}

/** The name of the file of a part in every backup. */
export function fileName(part: string): string {
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

export async function digestOf(path: string): Promise<string> {
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

/** Flushes a file to the disk. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+');
  await file.sync();
  await file.close();
  await syncDirectory(dirname(path));
}
