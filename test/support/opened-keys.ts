import { SubjectKeys } from '@app/crypto';
import type { Service } from './service';

/** Forgets a decrypted key of a subject in memory, as a new process has none. */
export function forgetInMemory({ app }: Pick<Service, 'app'>, id: string): void {
  const keys = app.get<unknown, { opened: { drop(id: string): void } }>(SubjectKeys, { strict: false });
  keys.opened.drop(id);
}
