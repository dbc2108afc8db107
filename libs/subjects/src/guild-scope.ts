import { invalidRequest } from '@app/kernel';

/** The scopes of a call beside one guild. */
export const SCOPES = ['all_guilds'] as const;

/** The guild that a call is about; undefined for all of them. @throws ApiError 400 when both are named. */
export function guildOf({
  guild_id: guildId,
  scope,
}: {
  guild_id?: string;
  scope?: string | null;
}): string | undefined {
  if (scope == null) return guildId;
  if (guildId != null)
    throw invalidRequest([
      { field: 'guild_id', message: 'must be left out with scope: all guilds are meant' },
    ]);
  return undefined;
}
