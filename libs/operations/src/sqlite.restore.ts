import { chmodSync, copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { removeKeysOf } from '@app/crypto';
import { isFilled, lockFile, restoringPath } from '@app/database';
import { DAY_MS, isThere, many, ownAsFolder, StartError, writeWhole } from '@app/kernel';
import { postponeDeletions } from '@app/servers';
import {
  BACKUP_PARTS,
  type BackupManifest,
  type BackupPart,
  partPath,
  readManifest,
  requireSound,
  requireUnchanged,
  syncDirectory,
  syncFile,
} from './sqlite.backup';
import {
  type MasterKeys,
  missingEntries,
  type RestoredKeys,
  takePresentKeys,
  unknownMigrations,
  unopened,
  valuesWithoutKey,
} from './sqlite.restore.keys';
import { placeFault, type Placed, putInPlace, READY } from './sqlite.restore.place';

/** How long deletions of guilds wait after a restore that were cancelled after the backup, so that they can be cancelled again. */
const POSTPONED_MS = DAY_MS;

interface RestoreOrder {
  readonly path: string;
  readonly from: string;
  readonly parts: readonly BackupPart[];
  /** Replaces the present files. */
  readonly force: boolean;
  /** Continues although values have no key. */
  readonly acceptLoss: boolean;
  /**
   * An ISO time. An older backup is refused, since who was erased before is in no ledger any more, and so is one in place of data that
   * alone records a later erasure. A drill, which reports the first, gives none.
   */
  readonly ledgerBegins?: string | undefined;
  readonly now: string;
  /** Tried on the keys of the backup. A drill, which tries every secret itself, gives none. */
  readonly masterKeys?: () => MasterKeys;
}

export interface Restored extends Placed {
  /** The time of the backup; undefined when an interrupted restore was finished. */
  readonly madeAt: string | undefined;
  /** Undefined when there were no present keys, or they could not be read. */
  readonly keys: RestoredKeys | undefined;
  readonly presentKeysUnreadable: boolean;
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
  for (const part of parts) {
    const file = fileOf(manifest, part, order.from);
    await requireUnchanged(order.from, file);
    if (!isFilled(join(order.from, file.name)))
      throw new StartError(`The ${part} of the backup in ${order.from} hold nothing. Take another backup.`);
  }
  const there = parts.map((part) => partPath(order.path, part)).filter(isFilled);
  requireInLedger(order, manifest);
  requireKnownData(order, parts, manifest);
  requireMasterKey(order, parts, manifest);
  const release = lockFile(order.path, 'restore');
  try {
    const staging = restoringPath(order.path);
    if (isThere(join(staging, READY))) {
      const placed = await putInPlace(order.path, staging);
      return { madeAt: undefined, keys: undefined, presentKeysUnreadable: false, ...placed };
    }
    if (there.length > 0 && !order.force)
      throw new StartError(
        `${there.join(' and ')} would be replaced. Say --force; they are kept under another name.`,
      );
    rmSync(staging, { recursive: true, force: true });
    const { keys, presentKeysUnreadable } = await prepare(order, parts, manifest, staging).catch(
      (error: unknown) => {
        rmSync(staging, { recursive: true, force: true });
        throw placeFault(error, order.path, 'Nothing was replaced.', order.from);
      },
    );
    return {
      madeAt: manifest.made_at,
      keys,
      presentKeysUnreadable,
      ...(await putInPlace(order.path, staging)),
    };
  } finally {
    release();
  }
}

function fileOf(manifest: BackupManifest, part: BackupPart, from: string) {
  const file = manifest.files[part];
  if (file === undefined)
    throw new StartError(`The backup in ${from} holds no ${part}. Say --only with the part that it holds.`);
  return file;
}

/** Stages the parts. From its end on the restore can only be finished. */
async function prepare(
  order: RestoreOrder,
  parts: readonly BackupPart[],
  manifest: BackupManifest,
  staging: string,
): Promise<Pick<Restored, 'keys' | 'presentKeysUnreadable'>> {
  const { keys, presentKeysUnreadable, ...staged } = await stage(order, parts, manifest, staging);
  const at = order.now.replace(/\D/g, '').slice(0, 14);
  writeWhole(join(staging, READY), JSON.stringify({ at, parts, ...staged }));
  await syncDirectory(dirname(staging));
  return { keys, presentKeysUnreadable };
}

async function stage(
  { path, from, acceptLoss, ledgerBegins, masterKeys, now }: RestoreOrder,
  parts: readonly BackupPart[],
  manifest: BackupManifest,
  staging: string,
): Promise<Pick<Restored, 'keys' | 'presentKeysUnreadable' | 'needsLedger' | 'postponed'>> {
  const given = parts.includes('keys') ? masterKeys?.() : undefined;
  mkdirSync(staging, { mode: 0o700 });
  ownAsFolder(staging);
  for (const part of parts) {
    const target = join(staging, part);
    copyFileSync(join(from, fileOf(manifest, part, from).name), target);
    chmodSync(target, 0o600);
    ownAsFolder(target);
    requireSound(target);
  }
  const present = partPath(path, 'keys');
  const hasPresent = parts.includes('keys') && isFilled(present);
  const dataStays = !parts.includes('data') && isFilled(partPath(path, 'data'));
  const taken = hasPresent
    ? takePresentKeys(join(staging, 'keys'), present, dataStays, given?.keys)
    : undefined;
  if (given !== undefined) {
    const keys = join(staging, 'keys');
    const { refused, subjects } = unopened(given, { keys }, acceptLoss);
    if (refused !== undefined) throw refused;
    removeKeysOf(keys, subjects);
  }
  if (!acceptLoss) requireKeysOf(path, parts, staging);
  if (ledgerBegins !== undefined && parts.includes('data'))
    requireEntered(
      partPath(path, 'data'),
      parts.includes('keys') ? join(staging, 'keys') : present,
      ledgerBegins,
    );
  const until = new Date(Date.parse(now) + POSTPONED_MS).toISOString();
  const count = parts.includes('data') ? postponeDeletions(join(staging, 'data'), until) : 0;
  for (const part of parts) await syncFile(join(staging, part));
  return {
    postponed: count > 0 ? { count, until } : undefined,
    keys: taken?.keys,
    presentKeysUnreadable: hasPresent && taken === undefined,
    needsLedger: parts.includes('keys') && taken?.isSame !== true,
  };
}

/** @throws StartError for a backup from before the begin of the ledger, unless the restore of one was interrupted */
function requireInLedger({ path, ledgerBegins }: RestoreOrder, { made_at: madeAt }: BackupManifest): void {
  if (ledgerBegins === undefined || madeAt >= ledgerBegins || isThere(join(restoringPath(path), READY)))
    return;
  throw new StartError(
    `The backup was made at ${madeAt}, and the ledger of erasures begins at ${ledgerBegins}: users who were erased in between would be back. Nothing was changed. ` +
      'Restore a newer backup; or say --accept-old, and have these users erased again.',
  );
}

/** @throws StartError for data on which no start is possible, unless the restore of one was interrupted */
function requireKnownData(order: RestoreOrder, parts: readonly BackupPart[], manifest: BackupManifest): void {
  const { path, from } = order;
  if (!parts.includes('data') || isThere(join(restoringPath(path), READY))) return;
  const foreign = unknownMigrations(join(from, fileOf(manifest, 'data', from).name));
  if (foreign.length === 0) return;
  throw new StartError(
    `The backup was written by a newer Lethe, or by one with another module (${foreign.join(', ')}). ` +
      'Nothing was changed. Restore it with that version, or restore another backup.',
  );
}

/**
 * Looks at the backup itself, before its place is taken: that makes its folder and files, which a refused restore must not leave.
 * Keys that are merged with present ones are tried later.
 * @throws StartError when the master key is missing
 */
function requireMasterKey(order: RestoreOrder, parts: readonly BackupPart[], manifest: BackupManifest): void {
  const { path, from, acceptLoss, masterKeys } = order;
  if (isThere(join(restoringPath(path), READY))) return;
  const isMerged = BACKUP_PARTS.some((part) => isThere(partPath(path, part)));
  const tried = parts.filter((part) => part === 'data' || !isMerged);
  const files = Object.fromEntries(
    tried.map((part) => [part, join(from, fileOf(manifest, part, from).name)]),
  );
  const given = tried.length > 0 ? masterKeys?.() : undefined;
  const refused = given && unopened(given, files, acceptLoss).refused;
  if (refused !== undefined) throw refused;
}

/** @throws StartError when the restored data and keys do not belong together */
function requireKeysOf(path: string, parts: readonly BackupPart[], staging: string): void {
  const [data, keys] = BACKUP_PARTS.map((part) =>
    parts.includes(part) ? join(staging, part) : partPath(path, part),
  ) as [string, string];
  if (!isFilled(data) || !isFilled(keys)) return;
  const count = valuesWithoutKey(data, keys);
  if (count === 0) return;
  throw new StartError(
    `${many(count, 'stored value')} would have no key: the keys are older than the data, or of another installation. ` +
      'Nothing was changed. Restore keys that were saved together with the data, or later; or say --accept-loss.',
  );
}

/** @throws StartError when the data that would be replaced is the only record of an erasure */
function requireEntered(data: string, keys: string, ledgerBegins: string): void {
  const count = isFilled(data) && isFilled(keys) ? missingEntries(data, keys, ledgerBegins) : 0;
  if (count === 0) return;
  throw new StartError(
    `${many(count, 'erasure is', 'erasures are')} recorded by the data in place alone, and no ledger has them: these users would be back. Nothing was changed. ` +
      'Start Lethe once on the data in place, which enters them in the ledger, and run restore again; where the keys are lost, restore the keys alone before that. ' +
      'If it does not start, or this is said again, say --accept-old, and have these users erased again.',
  );
}
