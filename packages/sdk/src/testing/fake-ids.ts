import type { Json } from './fake-consent';
import { invalid } from './fake-refusal';

/** A user in a guild. */
export interface Ids {
  readonly user_id: string;
  readonly guild_id: string;
}

export const keyOf = ({ user_id, guild_id }: Ids): string => `${user_id}/${guild_id}`;

export function idOf(given: Json, name: string): string {
  const id = given[name];
  if (typeof id === 'string' && /^\d{17,20}$/.test(id)) return id;
  throw invalid(name, 'must be a string of 17 to 20 digits');
}

/** What is given: null for an optional field counts as absent. */
export const present = <T extends Json>(given: T): T =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null)) as T;

const VERSION = /^[A-Za-z0-9._+:-]{1,64}$/;

/** @throws FakeRefusal 400 for a malformed version, and without one where `unless` is absent too */
export function versionOf(given: Json, unless: string): string | undefined {
  const { consent_version: version } = given;
  if (version === undefined && given[unless] !== undefined) return undefined;
  if (typeof version === 'string' && VERSION.test(version)) return version;
  throw invalid('consent_version', `must be 1 to 64 letters, digits and . _ + : -, or give ${unless}`);
}

const SOURCE = /^[a-z][a-z0-9_.:-]{0,63}$/;
/** Only the service names these as the place of an act. */
const RESERVED: readonly unknown[] = ['privacy_page', 'console'];

/** An act with its place. @throws FakeRefusal 400 for a malformed place, and for one that only the service names */
export function placed(given: Json): Json {
  const source = given['source'] ?? 'api';
  if (typeof source === 'string' && SOURCE.test(source) && !RESERVED.includes(source)) return given;
  throw invalid('source', `must be a short name, and none of ${RESERVED.join(', ')}`);
}

export const idsOf = (given: Json): Ids => ({
  user_id: idOf(given, 'user_id'),
  guild_id: idOf(given, 'guild_id'),
});
