import { chmodSync, copyFileSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { driverCode, foldLog, isFilled, isOfFullDisk, PlaceFault } from '@app/database';
import { isThere, ownAsFolder, StartError } from '@app/kernel';
import { BACKUP_PARTS, type BackupPart, partPath, syncDirectory, syncFile } from './sqlite.backup';

/** Marks a restore that is completely prepared, and holds what its end says if another run finishes it. */
export const READY = 'ready.json';

interface Ready {
  /** The time in the names of the replaced files. */
  readonly at: string;
  readonly parts?: readonly BackupPart[];
  readonly needsLedger?: boolean;
  readonly postponed?: Postponed | undefined;
}

/** The scheduled deletions of guilds that wait after a restore. */
export interface Postponed {
  readonly count: number;
  readonly until: string;
}

/** What is in place: the new names of the replaced files, and whether erasures since the backup are only in an export of the ledger. */
export interface Placed extends Required<Pick<Ready, 'parts' | 'needsLedger'>> {
  readonly replaced: readonly string[];
  readonly postponed?: Postponed | undefined;
}

/** The codes of Node.js and of SQLite for a file that cannot be written or read where it is. */
const OF_PLACE = /^(E[A-Z0-9]+|SQLITE_(FULL|IOERR|READONLY|CANTOPEN)\w*)$/;

/** What the disk of a restore refuses, as a full one, or that of a backup `from` which it copies, with the remedy; any other error as it is. */
export function placeFault(error: unknown, path: string, says: string, from?: string): unknown {
  const code = driverCode(error);
  if (error instanceof StartError || !OF_PLACE.test(code)) return error;
  const [folder, keys] = BACKUP_PARTS.map((part) => dirname(partPath(path, part)));
  const place = folder === keys ? folder : `${folder} and that of ${keys}`;
  const [fails, remedy] = isOfFullDisk(error)
    ? ['written', `Make room on the disk of ${place}`]
    : [
        from === undefined ? 'written' : 'read or written',
        `Look at the disk of ${place}${from === undefined ? '' : ` and that of ${from}`}, and at the rights of the user of this command`,
      ];
  return new PlaceFault(
    `The files of the restore cannot be ${fails} (${code}). ${says} ${remedy}, and run the same command again.`,
  );
}

/**
 * Puts each part in place. Every step can be repeated: a part that is no longer staged is in place.
 * @throws StartError for a disk that refuses a step
 */
export async function putInPlace(path: string, staging: string): Promise<Placed> {
  const done = await placed(path, staging).catch((error: unknown) => {
    throw placeFault(error, path, 'The restore is not finished, and no service starts before its end.');
  });
  foldLog(path);
  return done;
}

async function placed(path: string, staging: string): Promise<Placed> {
  const ready = JSON.parse(readFileSync(join(staging, READY), 'utf8')) as Ready;
  const { at, parts = BACKUP_PARTS, needsLedger = false, postponed } = ready;
  const replaced: string[] = [];
  for (const part of BACKUP_PARTS) {
    const [staged, target] = [join(staging, part), partPath(path, part)];
    if (isThere(staged)) {
      const next = await beside(target, staged);
      setAside(target, at);
      renameSync(next, target);
      await syncDirectory(dirname(target));
      rmSync(staged, { force: true });
    }
    if (isThere(`${target}.replaced-${at}`)) replaced.push(`${target}.replaced-${at}`);
  }
  rmSync(join(staging, READY));
  await syncDirectory(staging);
  rmSync(staging, { recursive: true });
  return { replaced, parts, needsLedger, postponed };
}

/** The staged file, or a copy of it if the target is on another disk, to which no file can be renamed. */
async function beside(target: string, staged: string): Promise<string> {
  if (statSync(dirname(target)).dev === statSync(staged).dev) return staged;
  const next = `${target}.restoring`;
  copyFileSync(staged, next);
  chmodSync(next, 0o600);
  ownAsFolder(next);
  await syncFile(next);
  return next;
}

/** Renames a file together with its log. What an earlier try has set aside stays: the file is then the restored one. */
function setAside(target: string, at: string): void {
  for (const suffix of ['', '-wal', '-shm']) {
    if (!isThere(target + suffix)) continue;
    const aside = `${target}.replaced-${at}${suffix}`;
    if (isThere(aside) || (suffix === '' && !isFilled(target))) rmSync(target + suffix);
    else renameSync(target + suffix, aside);
  }
}

/** The files that restores have replaced and kept, of data and keys. A folder that cannot be listed shows none. */
export function replacedFiles(path: string): string[] {
  return BACKUP_PARTS.flatMap((part) => {
    const target = partPath(path, part);
    try {
      return readdirSync(dirname(target))
        .map((name) => join(dirname(target), name))
        .filter(
          (file) =>
            file.startsWith(target) && /^\.replaced-\d{14}(-wal|-shm)?$/.test(file.slice(target.length)),
        );
    } catch {
      return [];
    }
  }).sort();
}
