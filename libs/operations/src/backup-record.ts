import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type BackupManifest, BACKUP_PARTS, type BackupPart, syncDirectory } from './backup-manifest';

const FORMAT = 'lethe-backup-record/1';

/** The time and place of the last finished backup of each part. */
export type BackupRecord = Readonly<
  Partial<Record<BackupPart, { readonly made_at: string; readonly directory: string }>>
>;

/** The path beside the SQLite file. */
export function backupRecordPath(path: string): string {
  return `${resolve(path)}.backups.json`;
}

/**
 * Records a finished backup beside the database, for its owner only. The record is written after the manifest of the
 * backup and replaced as a whole: after an interruption it names an older backup, never an unfinished one.
 */
export async function recordBackup(
  path: string,
  directory: string,
  { made_at, files }: BackupManifest,
): Promise<void> {
  const place = backupRecordPath(path);
  const made = BACKUP_PARTS.filter((part) => files[part] !== undefined).map(
    (part) => [part, { made_at, directory: resolve(directory) }] as const,
  );
  const parts: BackupRecord = { ...lastBackups(path), ...Object.fromEntries(made) };
  rmSync(`${place}.next`, { force: true });
  writeFileSync(`${place}.next`, `${JSON.stringify({ format: FORMAT, parts })}\n`, {
    mode: 0o600,
    flag: 'wx',
    flush: true,
  });
  renameSync(`${place}.next`, place);
  await syncDirectory(dirname(place));
}

/** The last backups; none where there is no readable record. */
export function lastBackups(path: string): BackupRecord {
  try {
    const { format, parts } = JSON.parse(readFileSync(backupRecordPath(path), 'utf8')) as {
      readonly format?: string;
      readonly parts?: BackupRecord;
    };
    if (format !== FORMAT || parts === undefined) return {};
    const known = BACKUP_PARTS.filter((part) => !Number.isNaN(Date.parse(parts[part]?.made_at ?? '')));
    return Object.fromEntries(known.map((part) => [part, parts[part]]));
  } catch {
    return {};
  }
}
