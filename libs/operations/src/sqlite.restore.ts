import { chmodSync, copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { removeKeysOf, unopenedKeys } from '@app/crypto';
import { driverCode, isFilled, KEY_TABLES, restoringPath, SqliteDatabase, takeFile } from '@app/database';
import { isThere, many, ownAsFolder, StartError } from '@app/kernel';
import type { Database } from 'better-sqlite3';
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
  writeWhole,
} from './sqlite.backup';
import { putInPlace, READY } from './sqlite.restore.place';

interface RestoreOrder {
  readonly path: string;
  readonly from: string;
  readonly parts: readonly BackupPart[];
  /** Replaces the present files. */
  readonly force: boolean;
  /** Continues although values have no key. */
  readonly acceptLoss: boolean;
  readonly now: string;
  /** Tried on the keys of the backup. A drill, which tries every secret itself, gives none. */
  readonly masterKeys?: () => MasterKeys;
}

/** The master keys of the command, and the words for the place that gives them. */
export interface MasterKeys {
  readonly keys: readonly Buffer[];
  readonly place: string;
}

/** The result of a restore for the keys. */
interface RestoredKeys {
  /** The number of erasures in the present ledger that the backup did not hold. */
  readonly erasures: number;
  /** The number of keys of the backup that were destroyed after it was made: they are destroyed again. */
  readonly destroyed: number;
}

export interface Restored {
  /** The time of the backup; undefined when an interrupted restore was finished. */
  readonly madeAt: string | undefined;
  /** The new names of the replaced files. */
  readonly replaced: readonly string[];
  /** Undefined when there were no present keys, or they could not be read. */
  readonly keys: RestoredKeys | undefined;
  readonly presentKeysUnreadable: boolean;
  /** The ledger in place is that of the backup: erasures since then are only in an export. */
  readonly needsLedger: boolean;
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
  if (parts.includes('keys'))
    requireMasterKey(order, join(order.from, fileOf(manifest, 'keys', order.from).name));
  const release = takeFile(order.path);
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
    const { needsLedger, ...stagedKeys } = await stage(order, parts, manifest, staging);
    // From here on the restore can only be finished.
    const at = order.now.replace(/\D/g, '').slice(0, 14);
    await writeWhole(join(staging, READY), JSON.stringify({ at, needsLedger }));
    await syncDirectory(dirname(staging));
    return { madeAt: manifest.made_at, ...stagedKeys, ...(await putInPlace(order.path, staging)) };
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

async function stage(
  { path, from, acceptLoss, masterKeys }: RestoreOrder,
  parts: readonly BackupPart[],
  manifest: BackupManifest,
  staging: string,
): Promise<Pick<Restored, 'keys' | 'presentKeysUnreadable' | 'needsLedger'>> {
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
  const taken = hasPresent ? takePresentKeys(join(staging, 'keys'), present, dataStays) : undefined;
  if (given !== undefined) {
    const keys = join(staging, 'keys');
    const refused = unopened(given, keys, acceptLoss);
    if (refused !== undefined) {
      rmSync(staging, { recursive: true });
      throw refused;
    }
    if (acceptLoss) removeKeysOf(keys, unopenedKeys(keys, given.keys).subjects);
  }
  if (!acceptLoss) requireKeysOf(path, parts, staging);
  for (const part of parts) await syncFile(join(staging, part));
  return {
    keys: taken?.keys,
    presentKeysUnreadable: hasPresent && taken === undefined,
    needsLedger: parts.includes('keys') && taken?.isSame !== true,
  };
}

/**
 * Looks at the backup itself where no file is in place: to take the place makes its folder and files, which a refused restore
 * must not leave.
 * @throws StartError when the master key is missing
 */
function requireMasterKey({ path, acceptLoss, masterKeys }: RestoreOrder, keysOfBackup: string): void {
  if (BACKUP_PARTS.some((part) => isThere(partPath(path, part)))) return;
  const given = masterKeys?.();
  const refused = given && unopened(given, keysOfBackup, acceptLoss);
  if (refused !== undefined) throw refused;
}

/** The refusal when the master keys do not open a file of keys: of the backup, merged with the present ones if there are any. */
function unopened({ keys, place }: MasterKeys, file: string, acceptLoss: boolean): StartError | undefined {
  const { installation, subjects } = unopenedKeys(file, keys);
  if (installation === undefined && (subjects.length === 0 || acceptLoss)) return undefined;
  const missing = [...new Set([installation ?? '', ...subjects])].filter((id) => id !== '').join(', ');
  return new StartError(
    missing === ''
      ? 'The keys of the backup cannot be decrypted: they are damaged. Nothing was changed; restore another backup.'
      : `The backup needs the master key ${missing}, which ${place} does not give. Nothing was changed. Add the key of the time of ` +
          'the backup there, behind the present one if there is one, and run restore again' +
          (installation === undefined
            ? '; or say --accept-loss: what it encrypts of users is lost then.'
            : '.'),
  );
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
    `${many(count, 'stored value')} would have no key: the keys are older than the data, or of another installation. ` +
      'Nothing was changed. Restore keys that were saved together with the data, or later; or say --accept-loss.',
  );
}

/** A signing key is named by its own hash. If both files hold the same one, they are of one installation. */
const SAME = `SELECT COUNT(*) FROM service_keys JOIN present.service_keys USING (name, id) WHERE name = 'signing'`;

/** What the present keys have given, and whether they are of the installation of the backup. */
interface Taken {
  readonly keys: RestoredKeys;
  readonly isSame: boolean;
}

/**
 * Copies into the keys of a backup what must outlive it: the present ledger of erasures, the installation keys, and,
 * when the data is not restored, the keys of the data. Keys that were destroyed after the backup are then destroyed in
 * the copy, otherwise at the next start.
 * @returns undefined when the present keys cannot be read
 */
function takePresentKeys(staged: string, present: string, dataStays: boolean): Taken | undefined {
  const database = new SqliteDatabase(staged, { fileMustExist: true, timeout: 5_000 });
  try {
    database.pragma('secure_delete = ON');
    database.pragma('synchronous = FULL');
    database.prepare('ATTACH DATABASE ? AS present').run(present);
    return merged(database, dataStays);
  } catch (error) {
    if (/^SQLITE_(NOTADB|CORRUPT)/.test(driverCode(error))) return undefined;
    throw error;
  } finally {
    database.close();
  }
}

function merged(database: Database, dataStays: boolean): Taken {
  const change = (sql: string): number => database.prepare(sql).run().changes;
  const taken = (table: keyof typeof KEY_TABLES, how: 'IGNORE' | 'REPLACE'): string => {
    const columns = database.prepare('SELECT name FROM pragma_table_info(?)').pluck().all(table).join(', ');
    return `INSERT OR ${how} INTO ${table} (${columns}) SELECT ${columns} FROM present.${table}`;
  };
  database.exec('BEGIN');
  const erasures = change(taken('erasure_ledger', 'IGNORE'));
  const gone = 'FROM subject_keys WHERE id IN (SELECT key_id FROM erasure_ledger WHERE key_id IS NOT NULL)';
  const destroyed = database.prepare(`SELECT COUNT(*) ${gone}`).pluck().get() as number;
  // With older data the next start repeats the erasures, for which it reads the ids that the keys hold.
  if (dataStays) change(`DELETE ${gone}`);
  if (dataStays) change(taken('subject_keys', 'IGNORE'));
  const same = database.prepare(SAME).pluck().get() as number;
  if (same > 0) change(taken('service_keys', 'REPLACE'));
  database.exec('COMMIT');
  return { keys: { erasures, destroyed }, isSame: same > 0 };
}

/** The key's id in an encrypted text: a mark of two characters, a dot, 12 characters, a dot. */
const ENCRYPTED_BY = 'substr(u.value, 4, 12)';

/** The number of values whose key is neither stored nor recorded as destroyed. They cannot be read. */
function valuesWithoutKey(data: string, keys: string): number {
  const database = new SqliteDatabase(data, { readonly: true, fileMustExist: true, timeout: 5_000 });
  try {
    database.prepare('ATTACH DATABASE ? AS keys').run(keys);
    return database
      .prepare(
        `SELECT COUNT(*) FROM user_data u WHERE (u.value GLOB 's1.*' OR u.value GLOB 's2.*')
         AND NOT EXISTS (SELECT 1 FROM keys.subject_keys k WHERE k.id = ${ENCRYPTED_BY})
         AND ${ENCRYPTED_BY} NOT IN (SELECT key_id FROM keys.erasure_ledger WHERE key_id IS NOT NULL)`,
      )
      .pluck()
      .get() as number;
  } finally {
    database.close();
  }
}
