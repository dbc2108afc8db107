export * from './asked';
export { type CommandData, SUBCOMMANDS } from './commands';
export * from './guilds';
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
export { type Texts, type TextTable } from './texts';
export type { Then } from './waiting';
