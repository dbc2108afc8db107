import { SqliteDatabase, WRITING } from '@app/database';
import { SystemClock, SystemRandom } from '@app/kernel';
import { UnreadableSecretError } from './aead';
import { contextOfSecret } from './installation-keys';
import { Keyring, SEALED_KEY_ID } from './keyring';

/** What the master keys do not open in a file of keys. */
export interface Unopened {
  /** The id of the master key of the installation's keys, without which nothing starts; empty for a damaged one. */
  readonly installation: string | undefined;
  /** The ids of master keys that only keys of subjects need. */
  readonly subjects: readonly string[];
}

/**
 * Tries the master keys on a SQLite file of keys that no service uses: it decrypts every key of the installation, and looks
 * by which master keys those of the subjects are encrypted.
 */
export function unopenedKeys(path: string, masterKeys: readonly Buffer[]): Unopened {
  const keyring = new Keyring(masterKeys, new SystemRandom(new SystemClock()));
  const database = new SqliteDatabase(path, { readonly: true, fileMustExist: true, timeout: 5_000 });
  try {
    const rows = database.prepare('SELECT name, id, sealed FROM service_keys').all() as readonly {
      readonly name: string;
      readonly id: string;
      readonly sealed: string;
    }[];
    const subjects = database
      .prepare(
        `SELECT DISTINCT substr(sealed, ${SEALED_KEY_ID.at}, ${SEALED_KEY_ID.length}) FROM subject_keys ORDER BY 1`,
      )
      .pluck()
      .all() as string[];
    return {
      installation: rows
        .map(({ name, id, sealed }) => unopened(keyring, sealed, contextOfSecret(name, id)))
        .find((keyId) => keyId !== undefined),
      subjects: subjects.filter((keyId) => !keyring.ids.includes(keyId)),
    };
  } finally {
    database.close();
  }
}

/** Removes the keys of subjects that these master keys encrypt from a SQLite file of keys that no service uses: they count as lost. */
export function removeKeysOf(path: string, masterKeyIds: readonly string[]): void {
  const database = new SqliteDatabase(path, { fileMustExist: true, timeout: 5_000 });
  try {
    for (const setting of WRITING) database.pragma(setting);
    const remove = database.prepare(
      `DELETE FROM subject_keys WHERE substr(sealed, ${SEALED_KEY_ID.at}, ${SEALED_KEY_ID.length}) = ?`,
    );
    for (const id of masterKeyIds) remove.run(id);
  } finally {
    database.close();
  }
}

function unopened(keyring: Keyring, sealed: string, context: string): string | undefined {
  try {
    keyring.open(sealed, context).fill(0);
    return undefined;
  } catch (error) {
    if (!(error instanceof UnreadableSecretError)) throw error;
    const [, keyId = ''] = sealed.split('.');
    return keyring.ids.includes(keyId) ? '' : keyId;
  }
}
