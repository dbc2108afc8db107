import { ifReadable, type Keyring } from '@app/crypto';

/** What was encrypted as JSON for a context; undefined for every other text. */
export function openedJson<T>(keyring: Keyring, sealed: string, context: string): T | undefined {
  const json = ifReadable(() => keyring.decrypt(sealed, context));
  return json === undefined ? undefined : (JSON.parse(json) as T);
}
