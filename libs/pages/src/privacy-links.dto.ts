import {
  Flag,
  Integer,
  LanguageTag,
  OneOf,
  type Scope,
  scopeBits,
  Snowflake,
  SomeOf,
  Text,
  Timestamp,
  Uuid,
} from '@app/http';
import { SCOPES } from '@app/crypto';

/** What the page of a link can offer. */
export const ACTS = ['view', 'consent', 'export', 'forget', 'correct'] as const;
export type PageAct = (typeof ACTS)[number];

/** The scope that the key of a link needs for it: a link allows nothing that its key may not do. */
export const SCOPE_OF: Readonly<Record<PageAct, Scope>> = {
  view: 'read',
  consent: 'write',
  export: 'read',
  forget: 'erase',
  correct: 'write',
};

/** Whether a key with some bits of scopes may offer an act. */
export function mayOffer(scopes: number, act: PageAct): boolean {
  return (scopes & scopeBits([SCOPE_OF[act]])) !== 0;
}

const EXPIRES_MIN = 60;
const EXPIRES_MAX = 7 * 86_400;
export const EXPIRES_DEFAULT = 15 * 60;
const URL_MAX = 2_000;

export class NewPrivacyLink {
  @Snowflake() user_id: string;
  @Snowflake({ unless: 'scope', description: 'Required without scope, to be left out with it' })
  guild_id?: string;
  @OneOf(SCOPES, { optional: true, description: 'all_guilds: one user in every guild of the bot' })
  scope?: 'all_guilds' | null;
  @LanguageTag({
    optional: true,
    description: 'Language of the page: de or en, and en for every other. Default: that of the browser',
  })
  language?: string | null;
  @Integer(EXPIRES_MIN, EXPIRES_MAX, {
    optional: true,
    description: 'Seconds until the link ends; default 900',
  })
  expires_in?: number | null;
  @SomeOf(ACTS, {
    optional: true,
    description: 'What the page offers; default all that the API key may do. correct needs view',
  })
  allow?: PageAct[] | null;
}

export class PrivacyLinkView {
  @Uuid() id: string;
  @Text(URL_MAX, 'Shown only here. Anyone who has it sees the page') url: string;
  @Timestamp() expires_at: string;
}

export class PrivacyLinkDeletedView {
  @Uuid() id: string;
  @Flag() deleted: boolean;
}
