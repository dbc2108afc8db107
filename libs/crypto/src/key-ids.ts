import type { Tx } from '@app/database';
import type { Random } from '@app/kernel';
import { ID_AT } from './encryption-key';
import type { SubjectDigests } from './installation-keys';
import type { Keyring } from './keyring';
import { type NamedSubject, type Subject, subjectName } from './subject';
import { ID_LENGTH, keyWithIds, type StoredKey, type SubjectKey, unsealed } from './subject-key';
import { SELECT_KEY, SET_IDS } from './subject-keys.sql';

/** Whether a call names the ids of a subject whose key was made without them. */
export function lacksIds(key: SubjectKey, subject: Subject | NamedSubject): subject is NamedSubject {
  return key.ids === undefined && 'ids' in subject;
}

/** The key that a unit has read; undefined where there is none, or where {@link lacksIds} holds. */
export function readyKey(
  known: ReadonlyMap<string, SubjectKey>,
  subject: Subject | NamedSubject,
): SubjectKey | undefined {
  const key = known.get(subjectName(subject));
  return key === undefined || lacksIds(key, subject) ? undefined : key;
}

/**
 * The key of a subject with the ids that a call names. Those of a key that was made without them are stored with it: the secret and
 * the id stay, so that what the key has encrypted stays readable. The unit must exclude erasures of the subject until its end.
 */
export async function withIds(
  tx: Tx,
  subject: Subject | NamedSubject,
  key: SubjectKey,
  keyring: Keyring,
  digests: SubjectDigests,
  random: Random,
): Promise<SubjectKey> {
  if (!lacksIds(key, subject)) return key;
  // Ids that are shown for unknown ones are of no subject.
  if (subjectName(digests.named(subject.botId, subject.ids)) !== subjectName(subject)) return key;
  const stored = await tx.get<Pick<StoredKey, 'sealed'>>(SELECT_KEY, key.id);
  if (stored === undefined) return key;
  const before = { id: key.id, sealed: stored.sealed };
  const found = unsealed(before, keyring, random);
  if (found.ids !== undefined) return found;
  const named = keyWithIds(before, subject.ids, keyring, random);
  // Unchanged where another unit has changed it meanwhile: it has stored the ids, or a later call does.
  await tx.run(SET_IDS, named.sealed, key.id, before.sealed);
  return named.key;
}

/** In SQL, the id of the subject key that has encrypted the text of a column. */
export const subjectKeyIdOf = (column: string): string => `substr(${column}, ${ID_AT + 1}, ${ID_LENGTH})`;
