import { withSqliteFile } from '@app/database';
import { SystemClock, SystemRandom } from '@app/kernel';
import type { Database } from 'better-sqlite3';
import { UnreadableSecretError } from './aead';
import { contextOfSecret } from './installation-keys';
import { Keyring, keyIdOf } from './keyring';

const SEALED_BY = keyIdOf('sealed');

const keyringOf = (masterKeys: readonly Buffer[]): Keyring =>
  new Keyring(masterKeys, new SystemRandom(new SystemClock()));

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
  const keyring = keyringOf(masterKeys);
  return withSqliteFile(path, 'read', (database) => {
    const rows = database.prepare('SELECT name, id, sealed FROM service_keys').all() as readonly {
      readonly name: string;
      readonly id: string;
      readonly sealed: string;
    }[];
    const subjects = database
      .prepare(`SELECT DISTINCT ${SEALED_BY} FROM subject_keys ORDER BY 1`)
      .pluck()
      .all() as string[];
    return {
      installation: rows
        .map(({ name, id, sealed }) => unopened(keyring, sealed, contextOfSecret(name, id)))
        .find((keyId) => keyId !== undefined),
      subjects: missingKeys(masterKeys, subjects),
    };
  });
}

/** Which ids of master keys are of none of these. */
export function missingKeys(masterKeys: readonly Buffer[], ids: readonly string[]): string[] {
  const given = keyringOf(masterKeys).ids;
  return ids.filter((id) => !given.includes(id));
}

/**
 * Replaces each key of a subject that these master keys do not open by that of the file attached as `present`, if they open
 * it there: a rotation has encrypted it again since.
 */
export function replaceUnopened(database: Database, masterKeys: readonly Buffer[]): void {
  const ids = JSON.stringify(keyringOf(masterKeys).ids);
  const isOpened = `${SEALED_BY} IN (SELECT value FROM json_each(?))`;
  database
    .prepare(
      `UPDATE subject_keys SET sealed = (SELECT p.sealed FROM present.subject_keys p WHERE p.id = subject_keys.id)
       WHERE NOT ${isOpened} AND id IN (SELECT id FROM present.subject_keys WHERE ${isOpened})`,
    )
    .run(ids, ids);
}

/** Removes the keys of subjects that these master keys encrypt from a SQLite file of keys that no service uses: they count as lost. */
export function removeKeysOf(path: string, masterKeyIds: readonly string[]): void {
  withSqliteFile(path, 'write', (database) => {
    const remove = database.prepare(`DELETE FROM subject_keys WHERE ${SEALED_BY} = ?`);
    for (const id of masterKeyIds) remove.run(id);
  });
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
