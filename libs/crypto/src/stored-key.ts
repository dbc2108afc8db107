import { createHash } from 'node:crypto';
import type { SubjectIds } from '@app/subjects';

export const SECRET_BYTES = 32;
/** Bytes of an id behind the secret, padded with spaces: the stored keys of all subjects have one length. */
const SUBJECT_ID_BYTES = 20;
const ID_LENGTH = 12;

/** A subject key as it is stored: encrypted with the master key, together with the ids of the subject. */
export interface StoredKey {
  readonly id: string;
  readonly sealed: string;
}

/**
 * Identifies a key, also after its destruction. The key cannot be found from the fingerprint, but a copy of the key can
 * be recognised.
 */
export function fingerprintOf(secret: Buffer): string {
  // Without a copy of the secret.
  const digest = createHash('sha256').update('lethe/subject-key/').update(secret);
  return digest.digest('base64url').slice(0, ID_LENGTH);
}

/** The place of a stored key, to which it is bound. The ids inside bind it to its subject. */
export function contextOfKey(id: string): string {
  return `subject_keys/${id}`;
}

/** The secret and the ids in one text. Without ids, of a subject that lost its key, their place is blank. */
export function packed(secret: Buffer, ids: SubjectIds | undefined): Buffer {
  const { guild_id: guildId, user_id: userId } = ids ?? { guild_id: '', user_id: '' };
  const names = guildId.padStart(SUBJECT_ID_BYTES) + userId.padStart(SUBJECT_ID_BYTES);
  return Buffer.concat([secret, Buffer.from(names)]);
}

export function unpacked(bytes: Buffer): { readonly secret: Buffer; readonly ids: SubjectIds | undefined } {
  const idAt = (from: number): string => bytes.toString('latin1', from, from + SUBJECT_ID_BYTES).trimStart();
  const ids = { guild_id: idAt(SECRET_BYTES), user_id: idAt(SECRET_BYTES + SUBJECT_ID_BYTES) };
  return { secret: bytes.subarray(0, SECRET_BYTES), ids: ids.user_id === '' ? undefined : ids };
}
