import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type BackupManifest, BACKUP_PARTS, syncDirectory } from './backup-manifest';

const FORMAT = 'lethe-backup-record/1';

const PARTS = [...BACKUP_PARTS, 'ledger'] as const;

/** The time and place of a finished copy; `directory` is absent for one that was written to standard output. */
interface Made {
  readonly made_at: string;
  readonly directory?: string;
}

/** The last finished copy of each part of a database, and of its ledger. */
export type BackupRecord = Readonly<Partial<Record<(typeof PARTS)[number], Made>>>;

/** The path beside the SQLite file. */
export function backupRecordPath(path: string): string {
  return `${resolve(path)}.backups.json`;
}

/** The record of a backup that has its manifest. */
export function madeOf(directory: string, { made_at, files }: BackupManifest): BackupRecord {
  const parts = BACKUP_PARTS.filter((part) => files[part] !== undefined);
  return Object.fromEntries(parts.map((part) => [part, { made_at, directory: resolve(directory) }]));
}

/**
 * Records finished copies beside the database, for its owner only. Call it after the copy is durable. The record is
 * replaced as a whole: after an interruption it names an older copy, never an unfinished one.
 */
export async function recordBackup(path: string, made: BackupRecord): Promise<void> {
  const place = backupRecordPath(path);
  const parts: BackupRecord = { ...lastBackups(path), ...made };
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
    const known = PARTS.filter((part) => isMade(parts[part]));
    return Object.fromEntries(known.map((part) => [part, parts[part]]));
  } catch {
    return {};
  }
}

function isMade(made: Made | undefined): boolean {
  const { made_at: at, directory } = made ?? {};
  if (directory !== undefined && typeof directory !== 'string') return false;
  return typeof at === 'string' && !Number.isNaN(Date.parse(at));
}
