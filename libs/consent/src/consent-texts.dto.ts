import {
  ConsentVersion,
  DECLARED_TEXT_MAX,
  field,
  KEY_MAX,
  LanguageTag,
  ListOf,
  matches,
  Of,
  PageQuery,
  Pagination,
  type Given,
  Text,
  Texts,
  Timestamp,
  WebUrl,
} from '@app/http';
import { getSchemaPath } from '@nestjs/swagger';

const TITLE_MAX = 500;
const CATEGORIES_MAX = 50;
const NOTICE_MAX = 1_000;
const NOTICE_ITEMS_MAX = 50;

const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** SHA-256 of a text that is stored elsewhere. */
export const Digest = (given?: Given): PropertyDecorator =>
  field(
    {
      check: matches(DIGEST),
      message: 'must be sha256: and 64 hexadecimal digits',
      schema: { type: 'string', pattern: DIGEST.source },
    },
    given,
  );

/** An optional object of `type` by language tag. Its reader checks what is in it. */
const ByLanguage =
  (type: () => new () => object, description: string): PropertyDecorator =>
  (target, property) =>
    field(
      {
        check: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
        message: 'must be an object of texts by language tag',
        schema: { type: 'object', additionalProperties: { $ref: getSchemaPath(type().name) } },
      },
      { optional: true, description },
    )(target, property);

export class CategoryText {
  @Text(KEY_MAX) key: string;
  @Text(DECLARED_TEXT_MAX) label: string;
  @Text(DECLARED_TEXT_MAX) text: string;
}

/** The text that users are shown, and further facts about the processing. */
class TextContent {
  @Text(TITLE_MAX) title: string;
  @Text(DECLARED_TEXT_MAX) body: string;
  @Text(DECLARED_TEXT_MAX, { optional: true }) accept_label?: string | null;
  @Text(DECLARED_TEXT_MAX, { optional: true }) decline_label?: string | null;
  @WebUrl({ optional: true, description: 'Address of the full privacy notice' })
  privacy_notice?: string | null;
  @Text(NOTICE_MAX, { optional: true, description: 'Whose law applies' }) jurisdiction?: string | null;
  @Texts(NOTICE_MAX, NOTICE_ITEMS_MAX, { optional: true, description: 'Where the data is stored' })
  storage_locations?: readonly string[] | null;
  @Texts(NOTICE_MAX, NOTICE_ITEMS_MAX, { optional: true, description: 'Who else receives the data' })
  recipient_third_parties?: readonly string[] | null;
  @Text(NOTICE_MAX, { optional: true, description: 'How the user withdraws the consent' })
  withdrawal_method?: string | null;
}

/** A text in a further language. */
export class FurtherConsentText extends TextContent {
  @ListOf(() => CategoryText, 0, CATEGORIES_MAX, { optional: true }) categories?: CategoryText[] | null;
}

export class RegisterConsentText extends FurtherConsentText {
  @ConsentVersion() consent_version: string;
  @LanguageTag() language: string;
  @ByLanguage(() => FurtherConsentText, 'The text in further languages, by language tag')
  texts?: Readonly<Record<string, unknown>> | null;
}

export class ConsentTextsQuery extends PageQuery {
  @ConsentVersion({ optional: true, description: 'The texts of this version alone' })
  consent_version?: string;
}

export class ConsentTextView extends TextContent {
  @ConsentVersion() consent_version: string;
  @LanguageTag() language: string;
  @Digest() digest: string;
  @ListOf(() => CategoryText, 0, CATEGORIES_MAX) categories: readonly CategoryText[];
  @Timestamp() created_at: string;
  @ByLanguage(() => ConsentTextView, 'Of a registration in several languages: the others, by language tag')
  texts?: Readonly<Record<string, ConsentTextView>>;
}

export class TextDigestPath {
  @Digest('The digest that the history of a consent names') digest: string;
}

export class ConsentWordsView extends TextContent {
  @Digest() digest: string;
  @ListOf(() => CategoryText, 0, CATEGORIES_MAX) categories: readonly CategoryText[];
}

export class ConsentTextsListView {
  @Of([ConsentTextView]) texts: ConsentTextView[];
  @Of(Pagination) pagination: Pagination;
}
