import { BOT_WIDE_GUILD_ID } from '@lethe/sdk';

/** The guild of the service that is none: direct messages, private channels, and guilds in which the bot is not installed. */
export const DIRECT_MESSAGES = BOT_WIDE_GUILD_ID;

/** Who has installed the app for an interaction: under 0 the guild (`"0"` in a direct message), under 1 the user. */
export interface InstallationOwners {
  readonly 0?: string | undefined;
  readonly 1?: string | undefined;
}

/** Where an interaction took place, as Discord sends it. */
export interface SentPlace {
  readonly guild_id?: string | null | undefined;
  readonly authorizing_integration_owners?: InstallationOwners | null | undefined;
  readonly context?: number | null | undefined;
}

/** Where an interaction took place, as discord.js 14 has it. */
export interface DiscordJsPlace {
  readonly guildId: string | null;
  readonly authorizingIntegrationOwners?: InstallationOwners | null | undefined;
  readonly context?: number | null | undefined;
}

/**
 * The guild of an interaction, if the bot is installed in it; else null. A user takes an app of their own also into guilds
 * that the bot is not in: no event says when such a guild ends, and nothing that it says of its members is believed. Of an
 * interface from before there were such users an interaction says neither who has installed the app nor its context.
 */
export function guildOf(interaction: SentPlace | DiscordJsPlace): string | null {
  const [guild, owners] =
    'guildId' in interaction
      ? [interaction.guildId, interaction.authorizingIntegrationOwners]
      : [interaction.guild_id, interaction.authorizing_integration_owners];
  if (guild == null) return null;
  const isOlder = (owners?.[0] ?? owners?.[1] ?? interaction.context) == null;
  return isOlder || owners?.[0] === guild ? guild : null;
}

/**
 * The `guild_id` under which everything about the user of an interaction is filed: the guild if the bot is installed in
 * it, else the bot-wide scope (`DIRECT_MESSAGES`). Take it in every command of your own.
 */
export const scopeOf = (interaction: SentPlace | DiscordJsPlace): string =>
  guildOf(interaction) ?? DIRECT_MESSAGES;
