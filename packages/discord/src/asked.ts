import { guildOf, type InstallationOwners } from './scope';

/** What a user has done, in words that are independent of the library underneath. */
export interface Asked {
  /** The id of the interaction on Discord. */
  readonly id: string;
  /** The user who acted. Nothing in a message says for whom it is. */
  readonly userId: string;
  /** The guild if the bot is installed in it; else null, as in direct messages (`scopeOf`). */
  readonly guildId: string | null;
  /** The language of the user's client, for example `de` or `en-US`. */
  readonly locale: string;
  /** How many bytes a file may have; 10 MiB by default. */
  readonly fileMaxBytes?: number;
  readonly act: Command | Component;
}

export interface Command {
  readonly kind: 'command';
  readonly name: string;
  readonly subcommand?: string;
  readonly options: Readonly<Record<string, unknown>>;
}

export interface Component {
  readonly kind: 'component';
  readonly customId: string;
  /** What is selected in a menu. */
  readonly values: readonly string[];
  /** Whether only this user sees the message, so that it may be changed into the answer. */
  readonly isPrivate: boolean;
}

/** The bit of a message that only one user sees. */
export const EPHEMERAL = 64;

/** An interaction as Discord sends it, as far as it is read here. */
export interface RawInteraction {
  readonly id: string;
  readonly application_id: string;
  readonly type: number;
  readonly token: string;
  readonly guild_id?: string;
  readonly authorizing_integration_owners?: InstallationOwners;
  readonly context?: number;
  readonly locale?: string;
  readonly user?: { readonly id: string };
  readonly member?: { readonly user: { readonly id: string } };
  readonly message?: { readonly flags?: number };
  readonly attachment_size_limit?: number;
  readonly data?: {
    readonly name?: string;
    readonly custom_id?: string;
    readonly values?: readonly string[];
    readonly options?: readonly RawOption[];
  };
}

export interface RawOption {
  readonly type: number;
  readonly name: string;
  readonly value?: unknown;
  readonly options?: readonly RawOption[];
}

const COMMAND = 2;
const COMPONENT = 3;
const SUBCOMMAND = 1;

/** What the user of an interaction has done; undefined for other kinds than commands and components. */
export function askedOf(raw: RawInteraction): Asked | undefined {
  const userId = raw.member?.user.id ?? raw.user?.id;
  const { type, data } = raw;
  if (userId === undefined || data === undefined) return undefined;
  const act = type === COMMAND ? commandOf(data) : type === COMPONENT ? componentOf(raw, data) : undefined;
  if (act === undefined) return undefined;
  return {
    ...{ id: raw.id, userId, guildId: guildOf(raw), locale: raw.locale ?? 'en', act },
    ...(raw.attachment_size_limit !== undefined && { fileMaxBytes: raw.attachment_size_limit }),
  };
}

type Data = NonNullable<RawInteraction['data']>;

function commandOf({ name = '', options = [] }: Data): Command {
  const [first] = options;
  const sub = first?.type === SUBCOMMAND ? first : undefined;
  const given = sub === undefined ? options : (sub.options ?? []);
  return {
    ...{ kind: 'command', name, ...(sub && { subcommand: sub.name }) },
    options: Object.fromEntries(given.map((option) => [option.name, option.value])),
  };
}

const componentOf = (raw: RawInteraction, { custom_id: customId = '', values = [] }: Data): Component => ({
  ...{ kind: 'component', customId, values },
  isPrivate: ((raw.message?.flags ?? 0) & EPHEMERAL) !== 0,
});
