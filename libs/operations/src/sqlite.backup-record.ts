import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { writeWhole } from '@app/kernel';
import { BACKUP_PARTS, type BackupManifest } from './sqlite.backup';

const RECORD_FORMAT = 'lethe-backup-record/1';
const RECORDED = [...BACKUP_PARTS, 'ledger', 'drill'] as const;

/** The time and place of a finished copy or drill; `directory` is absent for one that was written to standard output. */
interface Made {
  readonly made_at: string;
  readonly directory?: string;
  /** The size of a copy of data or keys; of a drill, that of both. Absent in a record of an older version. */
  readonly bytes?: number;
  /** Of a drill: whether the backup restored, and all of it could be used. */
  readonly ok?: boolean;
}

/** The last finished copy of each part of a database, of its ledger, and the last drill. */
export type BackupRecord = Readonly<Partial<Record<(typeof RECORDED)[number], Made>>>;

/** The path beside the SQLite file. */
export function backupRecordPath(path: string): string {
  return `${resolve(path)}.backups.json`;
}

/** The record of a backup that has its manifest. */
export function madeOf(directory: string, { made_at, files }: BackupManifest): BackupRecord {
  const parts = BACKUP_PARTS.filter((part) => files[part] !== undefined);
  const place = { made_at, directory: resolve(directory) };
  return Object.fromEntries(parts.map((part) => [part, { ...place, bytes: files[part]?.bytes }]));
}

/**
 * Records finished copies and drills beside the database, once they are durable: an interruption leaves the older record, and
 * so does a record that cannot be read.
 */
export async function recordBackup(path: string, made: BackupRecord): Promise<void> {
  const parts: BackupRecord = { ...partsOf(textOf(path)), ...made };
  writeWhole(backupRecordPath(path), `${JSON.stringify({ format: RECORD_FORMAT, parts })}\n`);
}

/** The path of a record that this user cannot read: the last backups are not known then. */
export function unreadableRecord(path: string): string | undefined {
  try {
    textOf(path);
    return undefined;
  } catch {
    return backupRecordPath(path);
  }
}

/** The last backups; none if there is no readable record. */
export function lastBackups(path: string): BackupRecord {
  try {
    return partsOf(textOf(path));
  } catch {
    return {};
  }
}

/** Empty where there is no record. */
function textOf(path: string): string {
  try {
    return readFileSync(backupRecordPath(path), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

/** The parts that a record names; none if it is damaged. */
function partsOf(text: string): BackupRecord {
  try {
    const { format, parts } = JSON.parse(text) as {
      readonly format?: string;
      readonly parts?: BackupRecord;
    };
    if (format !== RECORD_FORMAT || parts === undefined) return {};
    const known = RECORDED.filter((part) => isMade(parts[part]));
    return Object.fromEntries(known.map((part) => [part, parts[part]]));
  } catch {
    return {};
  }
}

function isMade(made: Made | undefined): boolean {
  const { made_at: at, directory = '', bytes = 0, ok = true } = made ?? {};
  const isPlace = isTime(at) && typeof directory === 'string';
  return isPlace && Number.isSafeInteger(bytes) && typeof ok === 'boolean';
}

/** Whether a text that was read from a file is a time. */
export function isTime(at: unknown): boolean {
  return typeof at === 'string' && !Number.isNaN(Date.parse(at));
}

/** The difference between two clocks that is usual, in milliseconds. */
const CLOCKS_DIFFER_MS = 3_600_000;

/** Whether a time that was recorded is later than now: the clock was ahead then, or is behind now. */
export function isAhead(at: string, nowMs: number): boolean {
  return Date.parse(at) - nowMs > CLOCKS_DIFFER_MS;
}
