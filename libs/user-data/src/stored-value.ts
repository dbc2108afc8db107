import type { SubjectKey } from '@app/crypto';
import { UnreadableSecretError } from '@app/primitives';
import { type Subject, subjectName } from '@app/subjects';

/** Encrypts the values of one category, as JSON text, with the subject key. */
export function sealValue(key: SubjectKey, subject: Subject, category: string, json: string): string {
  return key.encrypt(json, contextOf(subject, category));
}

/**
 * The JSON text.
 * @throws UnreadableSecretError for a value that was changed, is not encrypted, or has another key than its subject
 */
export function openValue(
  key: SubjectKey | undefined,
  subject: Subject,
  category: string,
  stored: string,
): string {
  if (key === undefined) throw new UnreadableSecretError();
  return key.decrypt(stored, contextOf(subject, category));
}

function contextOf(subject: Subject, category: string): string {
  return `user_data/${subjectName(subject)}/${category}`;
}
