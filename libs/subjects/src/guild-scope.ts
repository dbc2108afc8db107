import { invalidRequest } from '@app/kernel';

/** The values of `scope` in a call without `guild_id`. */
export const SCOPES = ['all_guilds'] as const;

/** The guild of a call; undefined for all guilds. @throws ApiError 400 when the call names both */
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
