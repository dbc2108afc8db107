import { unopenedSecrets } from '@app/bots';
import { replaceUnopened, type Unopened as UnopenedKeys, unopenedKeys } from '@app/crypto';
import { allMigrations, driverCode, isDamage, KEY_TABLES, withSqliteFile } from '@app/database';
import { COUNT_MISSING } from '@app/gdpr';
import { firstIdAt, StartError } from '@app/kernel';
import type { Database } from 'better-sqlite3';
import type { BackupPart } from './sqlite.backup';

/** The master keys of the command, and the words for the place that gives them. */
export interface MasterKeys {
  readonly keys: readonly Buffer[];
  readonly place: string;
}

/** The result of a restore for the keys. */
export interface RestoredKeys {
  /** The number of erasures in the present ledger that the backup did not hold. */
  readonly erasures: number;
  /** The number of keys of the backup that were destroyed after it was made: they are destroyed again. */
  readonly destroyed: number;
}

/** What the master keys do not open in the files of a backup, of which the keys are merged with the present ones if there are any. */
export interface Unopened {
  readonly refused: StartError | undefined;
  /** The master keys that only keys of subjects need. */
  readonly subjects: readonly string[];
}

/**
 * Looks for what the master keys do not open in files of data and keys. Keys of subjects are no reason to refuse where their
 * loss is accepted; without its webhook secrets nothing starts.
 */
export function unopened(
  { keys, place }: MasterKeys,
  files: Partial<Record<BackupPart, string>>,
  acceptLoss: boolean,
): Unopened {
  const secrets = files.data === undefined ? [] : unopenedSecrets(files.data, keys);
  const { installation, subjects }: UnopenedKeys =
    files.keys === undefined ? { installation: undefined, subjects: [] } : unopenedKeys(files.keys, keys);
  const needed = installation === undefined ? secrets : [installation, ...secrets];
  if (needed.length === 0 && (subjects.length === 0 || acceptLoss)) return { refused: undefined, subjects };
  const missing = [...new Set([...needed, ...subjects])].filter((id) => id !== '').join(', ');
  const refused = new StartError(
    missing === ''
      ? 'The keys of the backup cannot be decrypted: they are damaged. Nothing was changed; restore another backup.'
      : `The backup needs the master key ${missing}, which ${place} does not give. Nothing was changed. Add the key of the time of ` +
          'the backup there, behind the present one if there is one, and run restore again' +
          (needed.length === 0 ? '; or say --accept-loss: what it encrypts of users is lost then.' : '.'),
  );
  return { refused, subjects };
}

/** A signing key is named by its own hash. If both files hold the same one, they are of one installation. */
const SAME = `SELECT COUNT(*) FROM service_keys JOIN present.service_keys USING (name, id) WHERE name = 'signing'`;

/** A signing key that either file has retired stays so, whichever is older. */
const RETIRED =
  'COALESCE(p.retired_at, (SELECT k.retired_at FROM main.service_keys k WHERE k.name = p.name AND k.id = p.id))';

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
export function takePresentKeys(
  staged: string,
  present: string,
  dataStays: boolean,
  masterKeys: readonly Buffer[] | undefined,
): Taken | undefined {
  try {
    return withSqliteFile(staged, 'write', (database) => {
      database.prepare('ATTACH DATABASE ? AS present').run(present);
      return merged(database, dataStays, masterKeys);
    });
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
}

function merged(database: Database, dataStays: boolean, masterKeys: readonly Buffer[] | undefined): Taken {
  const change = (sql: string): number => database.prepare(sql).run().changes;
  const taken = (table: keyof typeof KEY_TABLES, how: 'IGNORE' | 'REPLACE'): string => {
    const columns = database.prepare('SELECT name FROM pragma_table_info(?)').pluck().all(table).join(', ');
    const values = columns.replace('retired_at', RETIRED);
    return `INSERT OR ${how} INTO ${table} (${columns}) SELECT ${values} FROM present.${table} p`;
  };
  database.exec('BEGIN');
  const erasures = change(`${taken('erasure_ledger', 'IGNORE')} WHERE p.request_id <> p.bot_id`);
  // What says of bots that they were deleted is no erasure.
  change(taken('erasure_ledger', 'IGNORE'));
  const gone = 'FROM subject_keys WHERE id IN (SELECT key_id FROM erasure_ledger WHERE key_id IS NOT NULL)';
  const destroyed = database.prepare(`SELECT COUNT(*) ${gone}`).pluck().get() as number;
  // With older data the next start repeats the erasures, for which it reads the ids that the keys hold.
  if (dataStays) change(`DELETE ${gone}`);
  if (dataStays && masterKeys !== undefined) replaceUnopened(database, masterKeys);
  if (dataStays) change(taken('subject_keys', 'IGNORE'));
  const same = database.prepare(SAME).pluck().get() as number;
  if (same > 0) change(taken('service_keys', 'REPLACE'));
  database.exec('COMMIT');
  return { keys: { erasures, destroyed }, isSame: same > 0 };
}

/** The migrations of the data that this process does not have; none where the data cannot be read. */
export function unknownMigrations(data: string): string[] {
  const known = new Set(allMigrations().map(({ name }) => name));
  return readable(data, 'read', [], (database) => {
    const names = database.prepare('SELECT name FROM migrations ORDER BY id').pluck().all() as string[];
    return names.filter((name) => !known.has(name));
  });
}

/** The key's id in an encrypted text: a mark of two characters, a dot, 12 characters, a dot. */
const ENCRYPTED_BY = 'substr(u.value, 4, 12)';

/** The number of values whose key is neither stored nor recorded as destroyed, alone or with its bot. They cannot be read. */
export function valuesWithoutKey(data: string, keys: string): number {
  return withSqliteFile(data, 'read', (database) => {
    database.prepare('ATTACH DATABASE ? AS keys').run(keys);
    return database
      .prepare(
        `SELECT COUNT(*) FROM user_data u WHERE (u.value GLOB 's1.*' OR u.value GLOB 's2.*')
         AND NOT EXISTS (SELECT 1 FROM keys.subject_keys k WHERE k.id = ${ENCRYPTED_BY})
         AND ${ENCRYPTED_BY} NOT IN (SELECT key_id FROM keys.erasure_ledger WHERE key_id IS NOT NULL)
         AND NOT EXISTS (SELECT 1 FROM keys.erasure_ledger l
           WHERE l.bot_id = u.bot_id AND l.request_id = u.bot_id AND l.erased_at >= u.updated_at)
         AND u.bot_id NOT IN (SELECT id FROM bots WHERE deleted_at IS NOT NULL)`,
      )
      .pluck()
      .get() as number;
  });
}

/** The number of completed erasures that the data in place records and the ledger lacks; 0 where the data cannot be read. */
export function missingEntries(data: string, keys: string, ledgerBegins: string): number {
  // A connection that only reads leaves the files of the log.
  return readable(data, 'write', 0, (database) => {
    database.prepare('ATTACH DATABASE ? AS keys').run(keys);
    return database.prepare(COUNT_MISSING).pluck().get(firstIdAt(ledgerBegins), ledgerBegins) as number;
  });
}

/** What `work` finds in the data, or `otherwise` where the data is damaged or of a schema that has not what is looked for. */
function readable<T>(
  data: string,
  access: 'read' | 'write',
  otherwise: T,
  work: (database: Database) => T,
): T {
  try {
    return withSqliteFile(data, access, work);
  } catch (error) {
    if (isDamage(error) || driverCode(error) === 'SQLITE_ERROR') return otherwise;
    throw error;
  }
}
