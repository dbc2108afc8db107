import {
  BATCH_MAX,
  ConsentVersion,
  field,
  JsonObject,
  KEY_MAX,
  LanguageTag,
  ListOf,
  matches,
  Of,
  OneOf,
  PageQuery,
  Pagination,
  type Presence,
  Snowflake,
  Text,
  Texts,
  Timestamp,
  Uuid,
} from '@app/http';
import { ApiProperty } from '@nestjs/swagger';
import { CategoryText, Digest } from './consent-texts.dto';
import { CONSENT_ACTIONS, CONSENT_STATUSES, type ConsentAction, type ConsentStatus } from './consent-states';

/** The categories that one call names at most. */
export const CATEGORIES_MAX = 50;
const DATA_ERASED_AT =
  'When the last data stored under the withdrawn consent will be erased, unless the user consents again before';

const SOURCE = /^[a-z][a-z0-9_.:-]{0,63}$/;

/** Names that only the service gives, to what a user has done on its own pages: a receipt repeats them. */
const RESERVED = ['privacy_page', 'console'];

/** The place of an act: a short name chosen by the bot, too short for personal data. */
const ActSource = (given: Presence = {}): PropertyDecorator =>
  field(
    {
      check: (value) => matches(SOURCE)(value) && !RESERVED.includes(value as string),
      message: `must be 1 to 64 small letters, digits and _ . : -, beginning with a letter, and none of ${RESERVED.join(', ')}: these are for what users do on pages of the service`,
      schema: { type: 'string', pattern: SOURCE.source, example: 'slash_command' },
    },
    { description: 'Where the user was asked or decided, never who it was; default `api`', ...given },
  );

export class RequestConsent {
  @Snowflake() user_id: string;
  @Snowflake() guild_id: string;
  @ConsentVersion({
    unless: 'categories',
    description: 'Default: a digest of the declarations of the categories',
  })
  consent_version?: string;
  @Texts(KEY_MAX, CATEGORIES_MAX, {
    optional: true,
    description: 'Keys of the categories asked for; default all',
  })
  categories?: string[] | null;
  @LanguageTag({
    optional: true,
    description:
      'Language of the request. Without one the request is about all texts of the version; with categories one text is answered, `en` if there is one',
  })
  language?: string | null;
  @ActSource({ optional: true }) source?: string | null;
}

export class AcceptConsent {
  @Snowflake({ unless: 'consent_id' }) user_id?: string;
  @Snowflake({ unless: 'consent_id' }) guild_id?: string;
  @ConsentVersion({ unless: 'consent_id' }) consent_version?: string;
  @Uuid({ optional: true, description: 'Id of the request, instead of the three fields above' }) consent_id?:
    string | null;
  @Texts(KEY_MAX, CATEGORIES_MAX, {
    optional: true,
    description: 'Granted categories; default all that were asked for',
  })
  categories?: string[] | null;
  @ActSource({ optional: true }) source?: string | null;
}

export class RevokeConsent {
  @Snowflake() user_id: string;
  @Snowflake() guild_id: string;
  @Texts(KEY_MAX, CATEGORIES_MAX, { optional: true, description: 'Withdrawn categories; default all' })
  categories?: string[] | null;
  @ActSource({ optional: true }) source?: string | null;
}

export class DeclineConsent {
  @Snowflake({ unless: 'consent_id' }) user_id?: string;
  @Snowflake({ unless: 'consent_id' }) guild_id?: string;
  @Uuid({ optional: true, description: 'Id of the request, instead of the two fields above' }) consent_id?:
    string | null;
  @ActSource({ optional: true }) source?: string | null;
}

export class ConsentQuery {
  @Snowflake() user_id: string;
  @Snowflake() guild_id: string;
}

export class StatusBatch {
  @ListOf(() => ConsentQuery, 1, BATCH_MAX) items: readonly ConsentQuery[];
}

export class ConsentTextsView {
  @Of(String) title: string;
  @Of(String) body: string;
  @Of([CategoryText]) categories: readonly CategoryText[];
  @Of(String, { optional: true }) accept_label?: string;
  @Of(String, { optional: true }) decline_label?: string;
}

export class ConsentRequestedView {
  @Uuid() id: string;
  @OneOf(CONSENT_STATUSES) status: ConsentStatus;
  @ConsentVersion() version: string;
  @Timestamp() requested_at: string;
  @Uuid({ optional: true, description: 'The same id, if the request named categories' }) consent_id?: string;
  @Texts(KEY_MAX, CATEGORIES_MAX, { optional: true }) categories?: readonly string[];
  @Of(ConsentTextsView, { optional: true, description: 'The texts to show to the user' })
  texts?: ConsentTextsView;
}

export class CategoryConsentView {
  @Text(KEY_MAX) key: string;
  @OneOf(CONSENT_STATUSES) status: ConsentStatus;
  @Timestamp({
    optional: true,
    description: 'When what is stored under it will be erased, after a withdrawal',
  })
  data_erased_at?: string;
}

export class ConsentView {
  @Uuid() id: string;
  @OneOf(CONSENT_STATUSES) status: ConsentStatus;
  @ConsentVersion() version: string;
  @Snowflake() user_id: string;
  @Snowflake() guild_id: string;
  @Timestamp() requested_at: string;
  @Timestamp({ nullable: true }) accepted_at: string | null;
  @Timestamp({ nullable: true }) revoked_at: string | null;
  @Timestamp({ optional: true, description: DATA_ERASED_AT }) data_erased_at?: string;
  @Of([CategoryConsentView], { optional: true }) categories?: CategoryConsentView[];
}

export class AcceptedConsentView extends ConsentView {
  @Of(String, {
    optional: true,
    description:
      'A signed receipt for the user: a compact JWS (EdDSA) with the fields of ISO/IEC TS 27560. The service does not keep it. Left out when it cannot be signed at present',
  })
  receipt?: string;
}

export class ConsentReceiptView {
  @Of(String, 'A compact JWS (EdDSA); the keys are those of `/.well-known/lethe-keys.json`') receipt: string;
  @JsonObject('What is signed, with the fields of ISO/IEC TS 27560') payload: object;
}

export class ConsentStatusView {
  @OneOf(CONSENT_STATUSES) status: ConsentStatus;
  @ConsentVersion({ nullable: true }) version: string | null;
  @Snowflake() user_id: string;
  @Snowflake() guild_id: string;
  @Timestamp({ nullable: true }) accepted_at: string | null;
  @Timestamp({ nullable: true }) revoked_at: string | null;
  @Timestamp({
    nullable: true,
    description: 'When the user last declined; null where a newer request or acceptance follows',
  })
  declined_at: string | null;
  @ConsentVersion({ optional: true, description: 'A newer version that waits beside the accepted one' })
  pending_version?: string;
  @Timestamp({ optional: true, description: DATA_ERASED_AT }) data_erased_at?: string;
  @Of([CategoryConsentView], { optional: true }) categories?: CategoryConsentView[];
}

export class ConsentDeclinedView extends ConsentStatusView {
  @Timestamp() override declined_at: string;
}

export class StatusBatchView {
  @ApiProperty({ type: [ConsentStatusView], minItems: 1, maxItems: BATCH_MAX })
  results: readonly ConsentStatusView[];
}

export class ConsentHistoryQuery extends PageQuery {
  @Snowflake() user_id: string;
  @Snowflake() guild_id: string;
}

class ShownTextView {
  @LanguageTag() language: string;
  @Digest('SHA-256 of the text that was shown') digest: string;
}

class ConsentHistoryEntryView {
  @Uuid() id: string;
  @Uuid('The request, and the consent that it became') consent_id: string;
  @OneOf(
    CONSENT_ACTIONS,
    '`requested`: shown to the user; `shown`: shown again with other texts; `accepted`, `declined`: decided; `revoked`, `categories_withdrawn`: withdrawn',
  )
  action: ConsentAction;
  @ConsentVersion() version: string;
  @Texts(KEY_MAX, CATEGORIES_MAX, { nullable: true, description: 'Of this act; null means all' })
  categories: readonly string[] | null;
  @LanguageTag({
    nullable: true,
    description:
      'The language of the texts that were shown, or that the request named where none is registered; null for the texts of all languages',
  })
  language: string | null;
  @Of([ShownTextView], 'The texts that were shown; none where none is known') texts: readonly ShownTextView[];
  @ActSource({ nullable: true, description: 'null where none is known' }) source: string | null;
  @Timestamp() created_at: string;
}

export class ConsentHistoryView {
  @Of([ConsentHistoryEntryView]) entries: ConsentHistoryEntryView[];
  @Of(Pagination) pagination: Pagination;
}
