import { type Keyring, UnreadableSecretError } from '@app/crypto';

/** What was encrypted as JSON for a context; undefined for every other text. */
export function openedJson<T>(keyring: Keyring, sealed: string, context: string): T | undefined {
  try {
    return JSON.parse(keyring.decrypt(sealed, context)) as T;
  } catch (error) {
    if (error instanceof UnreadableSecretError) return undefined;
    throw error;
  }
}
