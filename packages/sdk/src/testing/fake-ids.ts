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

export const idsOf = (given: Json): Ids => ({
  user_id: idOf(given, 'user_id'),
  guild_id: idOf(given, 'guild_id'),
});
