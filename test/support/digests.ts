import { createHmac } from 'node:crypto';
import {
  type Digest,
  EncryptionKey,
  type InstallationKeys,
  Keyring,
  presentMasterKeys,
  SubjectDigests,
} from '@app/crypto';
import { type Random, readConfig } from '@app/kernel';
import type { TestDatabase } from './database';
import type { SubjectIds } from './snowflakes';

/** The columns of a subject in every table, for SQL of a test. */
export interface StoredIds {
  readonly guild_id: Digest;
  readonly user_id: Digest;
}

/** The keyring of another process, which only decrypts. */
export function keyringOf(
  database: TestDatabase,
  environment: Readonly<Record<string, string>> = {},
): Keyring {
  const config = readConfig({ ...database.settings, ...environment });
  return new Keyring(presentMasterKeys(config) ?? [], {} as Random);
}

/** The digests that a service stores in place of ids, made with its key from its database. */
export async function digestsOf(
  database: TestDatabase,
  environment: Readonly<Record<string, string>> = {},
): Promise<SubjectDigests> {
  const keyring = keyringOf(database, environment);
  const [row] = await database.rows<{ id: string; sealed: string }>(
    "SELECT id, sealed FROM keys.service_keys WHERE name = 'digest'",
  );
  const secret = keyring.decrypt(row?.sealed ?? '', `service_keys/digest/${row?.id ?? ''}`);
  return new SubjectDigests({ digest: Buffer.from(secret, 'base64url') } as InstallationKeys);
}

/** The ids of a subject as they are stored. */
export function storedIds(digests: SubjectDigests, botId: string, who: SubjectIds): StoredIds {
  const { guildId, userId } = digests.named(botId, who);
  return { guild_id: guildId, user_id: userId };
}

/** The stored key of a subject, and the secret in it. */
export interface StoredSecret {
  readonly id: string;
  readonly sealed: string;
  readonly secret: Buffer;
}

const SECRET_BYTES = 32;

/** The key of a subject, read beside the service. */
export async function secretOf(
  database: TestDatabase,
  keyring: Keyring,
  botId: string,
  { guild_id: guildId, user_id: userId }: StoredIds,
): Promise<StoredSecret> {
  const [stored] = await database.rows<{ id: string; sealed: string }>(
    `SELECT id, sealed FROM subjects JOIN keys.subject_keys stored ON stored.id = subjects.key_id
     WHERE bot_id = ? AND guild_id = ? AND user_id = ?`,
    ...[botId, guildId, userId],
  );
  if (stored === undefined) throw new Error('the subject has no key');
  const opened = keyring.open(stored.sealed, `subject_keys/${stored.id}`);
  return { ...stored, secret: opened.subarray(0, SECRET_BYTES) };
}

/** A secret and the keys that are derived from it. */
export function keysOf(secret: Buffer): Buffer[] {
  const first = createHmac('sha512', secret).update('lethe/subject\x01').digest();
  const second = createHmac('sha512', secret).update(first).update('lethe/subject\x02').digest();
  return [secret, first.subarray(0, 32), first.subarray(32), second.subarray(0, 32)];
}

/** Encrypts as the service does, for rows that a test inserts in great number. */
export function encryptionKeyOf({ id, secret }: StoredSecret): EncryptionKey {
  return EncryptionKey.of(id, secret);
}
