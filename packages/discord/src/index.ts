export * from './asked';
export { type CommandData, SUBCOMMANDS } from './commands';
export * from './deauthorized';
export { type GuildOptions, guildJoined, guildLeft, type Reconciled, reconcileGuilds } from './guilds';
export { Privacy, type PrivacyOptions } from './privacy';
export {
  type Button,
  type Embed,
  LIMITS,
  type LinkButton,
  type Reply,
  type ReplyFile,
  type Row,
  type Select,
} from './reply';
export * from './rest';
export {
  DIRECT_MESSAGES,
  type DiscordJsPlace,
  type InstallationOwners,
  scopeOf,
  type SentPlace,
} from './scope';
export { type Texts, type TextTable } from './texts';
export type { Then } from './waiting';
