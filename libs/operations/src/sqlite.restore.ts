import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { foldLog, isFilled, restoringPath, takeFile } from '@app/database';
import { isThere, StartError } from '@app/kernel';
import {
  BACKUP_PARTS,
  type BackupManifest,
  type BackupPart,
  readManifest,
  requireUnchanged,
  syncDirectory,
  syncFile,
} from './backup-manifest';
import { partPath, requireSound } from './sqlite.backup';
import { type RestoredKeys, takePresentKeys, valuesWithoutKey } from './sqlite.restore-keys';

export interface RestoreOrder {
  readonly path: string;
  readonly from: string;
  readonly parts: readonly BackupPart[];
  /** Replaces the present files. */
  readonly force: boolean;
  /** Continues although values have no key. */
  readonly acceptLoss: boolean;
  readonly now: string;
}

export interface Restored {
  /** The time of the backup; undefined when an interrupted restore was finished. */
  readonly madeAt: string | undefined;
  /** The new names of the replaced files. */
  readonly replaced: readonly string[];
  /** Undefined when there were no present keys, or they could not be read. */
  readonly keys: RestoredKeys | undefined;
  readonly presentKeysUnreadable: boolean;
}

/** A restore that is completely prepared and only has to be put in place. */
interface Ready {
  readonly at: string;
}

/**
 * Puts a backup in place of a database that no process uses. Everything is checked and prepared beside the database
 * first, and replaced files are kept. An erasure is never undone: the present ledger is kept, and its keys stay
 * destroyed. After an interruption no service starts until the restore is run again to its end.
 * @throws StartError with the remedy
 */
export async function restoreSqlite(order: RestoreOrder): Promise<Restored> {
  const manifest = readManifest(order.from);
  const parts = BACKUP_PARTS.filter((part) => order.parts.includes(part));
  for (const part of parts) await requireUnchanged(order.from, fileOf(manifest, part, order.from));
  const there = parts.map((part) => partPath(order.path, part)).filter(isFilled);
  const release = takeFile(order.path);
  try {
    const staging = restoringPath(order.path);
    if (isThere(join(staging, READY))) return await finished(order.path, staging);
    if (there.length > 0 && !order.force)
      throw new StartError(
        `${there.join(' and ')} would be replaced. Say --force; they are kept under another name.`,
      );
    rmSync(staging, { recursive: true, force: true });
    const stagedKeys = await stage(order, parts, manifest, staging);
    await declareReady(staging, { at: order.now.replace(/\D/g, '').slice(0, 14) });
    const replaced = await putInPlace(order.path, staging);
    return { madeAt: manifest.made_at, replaced, ...stagedKeys };
  } finally {
    release();
  }
}

const READY = 'ready.json';

function fileOf(manifest: BackupManifest, part: BackupPart, from: string) {
  const file = manifest.files[part];
  if (file === undefined)
    throw new StartError(`The backup in ${from} holds no ${part}. Say --only with the part that it holds.`);
  return file;
}

/** Finishes a restore that was interrupted while it was put in place. */
async function finished(path: string, staging: string): Promise<Restored> {
  const replaced = await putInPlace(path, staging);
  return { madeAt: undefined, replaced, keys: undefined, presentKeysUnreadable: false };
}

async function stage(
  { path, from, acceptLoss }: RestoreOrder,
  parts: readonly BackupPart[],
  manifest: BackupManifest,
  staging: string,
): Promise<Pick<Restored, 'keys' | 'presentKeysUnreadable'>> {
  mkdirSync(staging, { mode: 0o700 });
  for (const part of parts) {
    const target = join(staging, part);
    copyFileSync(join(from, fileOf(manifest, part, from).name), target);
    chmodSync(target, 0o600);
    requireSound(target);
  }
  const present = partPath(path, 'keys');
  const hasPresent = parts.includes('keys') && isFilled(present);
  const dataStays = !parts.includes('data') && isFilled(partPath(path, 'data'));
  const keys = hasPresent ? takePresentKeys(join(staging, 'keys'), present, dataStays) : undefined;
  if (!acceptLoss) requireKeysOf(path, parts, staging);
  for (const part of parts) await syncFile(join(staging, part));
  return { keys, presentKeysUnreadable: hasPresent && keys === undefined };
}

/** @throws StartError when the restored data and keys do not belong together */
function requireKeysOf(path: string, parts: readonly BackupPart[], staging: string): void {
  const [data, keys] = BACKUP_PARTS.map((part) =>
    parts.includes(part) ? join(staging, part) : partPath(path, part),
  ) as [string, string];
  if (!isFilled(data) || !isFilled(keys)) return;
  const count = valuesWithoutKey(data, keys);
  if (count === 0) return;
  rmSync(staging, { recursive: true });
  throw new StartError(
    `${count} stored values would have no key: the keys are older than the data, or of another installation. ` +
      'Nothing was changed. Restore keys that were saved together with the data, or later; or say --accept-loss.',
  );
}

/** Marks the restore as prepared. After this step it can only be finished. */
async function declareReady(staging: string, ready: Ready): Promise<void> {
  const path = join(staging, READY);
  writeFileSync(`${path}.next`, JSON.stringify(ready), { mode: 0o600, flush: true });
  await syncDirectory(staging);
  renameSync(`${path}.next`, path);
  await syncDirectory(staging);
  await syncDirectory(dirname(staging));
}

/** Puts each part in place. Every step can be repeated: a part that is no longer staged is in place. */
async function putInPlace(path: string, staging: string): Promise<string[]> {
  const { at } = JSON.parse(readFileSync(join(staging, READY), 'utf8')) as Ready;
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
  foldLog(path);
  return replaced;
}

/** The staged file, or a copy of it if the target is on another disk, to which no file can be renamed. */
async function beside(target: string, staged: string): Promise<string> {
  if (statSync(dirname(target)).dev === statSync(staged).dev) return staged;
  const next = `${target}.restoring`;
  copyFileSync(staged, next);
  chmodSync(next, 0o600);
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
