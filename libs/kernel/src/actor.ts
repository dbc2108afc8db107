import { AsyncLocalStorage } from 'node:async_hooks';

/** Who does an act, as `details.actor` of its audit event says: `key:` and the public prefix of an API key, or one of these. */
export type Actor = `key:${string}` | 'console' | 'privacy_page' | 'operator' | 'job';

const actors = new AsyncLocalStorage<Actor>();

/** Runs `work`, and what it begins, for `actor`. */
export function actingAs<T>(actor: Actor, work: () => T): T {
  return actors.run(actor, work);
}

/** Who acts; a job where no caller does. Work that waits for a turn of others keeps what this answers at its beginning. */
export function presentActor(): Actor {
  return actors.getStore() ?? 'job';
}
