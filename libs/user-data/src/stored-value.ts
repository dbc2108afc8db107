import type { SubjectKey } from '@app/crypto';
import { encryptedBy, UnreadableSecretError } from '@app/primitives';
import { type Subject, subjectName } from '@app/subjects';

/** Encrypts the values of one category, as JSON text, with the subject key. */
export function sealValue(key: SubjectKey, subject: Subject, category: string, json: string): string {
  return key.encrypt(json, contextOf(subject, category));
}

/**
 * The JSON text; undefined when its key was destroyed, which is the same as no value.
 * @throws UnreadableSecretError for a value that was changed or is not encrypted
 */
export function openValue(
  key: SubjectKey | undefined,
  subject: Subject,
  category: string,
  stored: string,
): string | undefined {
  const by = encryptedBy(stored);
  if (by === undefined) throw new UnreadableSecretError();
  return by === key?.id ? key.decrypt(stored, contextOf(subject, category)) : undefined;
}

function contextOf(subject: Subject, category: string): string {
  return `user_data/${subjectName(subject)}/${category}`;
}
