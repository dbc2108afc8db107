import {
  AnyText,
  DECLARED_TEXT_MAX,
  Flag,
  Integer,
  type Labels,
  LabelsByLanguage,
  ListOf,
  Of,
  OneOf,
  OptionalText,
  Pagination,
  Slug,
  Text,
  Texts,
  Timestamp,
  Uuid,
} from '@app/http';
import { ApiProperty } from '@nestjs/swagger';
import { FIELD_TYPES, type FieldType } from './category.entity';

/** The six bases of GDPR Art. 6(1). */
const LEGAL_BASES = [
  'consent',
  'contract',
  'legal_obligation',
  'vital_interests',
  'public_task',
  'legitimate_interests',
] as const;

const FIELDS_MAX = 50;
const RETENTION_DAYS_MAX = 3650;

const EDITABLE =
  'Users may correct the value on their privacy page (GDPR Art. 16). Default: false; answers name it where it is true. ' +
  'Not for json';

const REASON_MAX = 2_000;
const REQUIRES =
  'Whether storing needs the consent of the user. False only with another legal_basis than consent, `reason_de` and `reason_en`; ' +
  'answers name it where it is false. Default: true';
const REASON = (language: string) =>
  `Why no consent is needed, in ${language}: users read it on their privacy page. Required with requires_consent: false`;

const WARNING_MAX = 400;
const WARNINGS =
  'In the answer to a registration: what the declaration does that its bot may not mean. Left out where there is nothing';

const DELETING =
  'When its deletion began. The answer has it while that is not complete: no request for consent and no acceptance can name the category, ' +
  'and a repeat of the deletion ends it';

const FURTHER = 'Purpose in further languages, by language tag (BCP 47)';

export class DataFieldInput {
  @Slug() key: string;
  @OneOf(FIELD_TYPES) type: FieldType;
  @Text(DECLARED_TEXT_MAX) label_de: string;
  @Text(DECLARED_TEXT_MAX) label_en: string;
  @LabelsByLanguage(DECLARED_TEXT_MAX, { optional: true }) labels?: Labels | null;
  @AnyText({ optional: true, nullable: true }) description?: string | null;
  @OptionalText(DECLARED_TEXT_MAX) description_de?: string | null;
  @OptionalText(DECLARED_TEXT_MAX) description_en?: string | null;
  @LabelsByLanguage(DECLARED_TEXT_MAX, { optional: true, description: FURTHER }) descriptions?: Labels | null;
  @Flag({ optional: true, description: EDITABLE }) editable?: boolean | null;
}

/** What both shapes of the registration can declare besides a name. */
export class Purpose {
  @LabelsByLanguage(DECLARED_TEXT_MAX, { optional: true, nullable: true }) labels?: Labels | null;
  @AnyText({ optional: true, nullable: true }) description?: string | null;
  @OptionalText(DECLARED_TEXT_MAX, { nullable: true }) description_de?: string | null;
  @OptionalText(DECLARED_TEXT_MAX, { nullable: true }) description_en?: string | null;
  @LabelsByLanguage(DECLARED_TEXT_MAX, { optional: true, nullable: true, description: FURTHER })
  descriptions?: Labels | null;
  @Integer(1, RETENTION_DAYS_MAX, { optional: true, nullable: true }) retention_days?: number | null;
  @OneOf(LEGAL_BASES, { optional: true, description: 'Default: consent' }) legal_basis?: string | null;
  @Flag({ optional: true, description: REQUIRES }) requires_consent?: boolean | null;
  @OptionalText(REASON_MAX, { nullable: true, description: REASON('German') }) reason_de?: string | null;
  @OptionalText(REASON_MAX, { nullable: true, description: REASON('English') }) reason_en?: string | null;
}

export class RegisterCategory extends Purpose {
  @Slug() key: string;
  @Text(DECLARED_TEXT_MAX) label_de: string;
  @Text(DECLARED_TEXT_MAX) label_en: string;
  @ListOf(() => DataFieldInput, 1, FIELDS_MAX) fields: DataFieldInput[];
}

/** One category of the guide's shape; its name becomes key and label. */
export class GuideCategory extends Purpose {
  @Slug() name: string;
}

export class RegisterGuideCategories {
  @Of(String, 'The id of the bot at its platform, or its `id` here') bot_id: string;
  @ListOf(() => GuideCategory, 1, FIELDS_MAX) categories: GuideCategory[];
}

export class ChangeCategory extends Purpose {
  @Text(DECLARED_TEXT_MAX, { optional: true }) label_de?: string | null;
  @Text(DECLARED_TEXT_MAX, { optional: true }) label_en?: string | null;
  @ListOf(() => DataFieldInput, 1, FIELDS_MAX, {
    optional: true,
    description: 'The declared fields and new ones. What is not mentioned of a declared field stays as it is',
  })
  fields?: DataFieldInput[] | null;
}

export class CategoryView {
  @Uuid() id: string;
  @Slug() key: string;
  @Text(DECLARED_TEXT_MAX) label_de: string;
  @Text(DECLARED_TEXT_MAX) label_en: string;
  @LabelsByLanguage(DECLARED_TEXT_MAX, { optional: true }) labels?: Labels;
  @OptionalText(DECLARED_TEXT_MAX, { optional: false, nullable: true }) description: string | null;
  @OptionalText(DECLARED_TEXT_MAX) description_de?: string;
  @OptionalText(DECLARED_TEXT_MAX) description_en?: string;
  @LabelsByLanguage(DECLARED_TEXT_MAX, { optional: true, description: FURTHER }) descriptions?: Labels;
  @Integer(1, RETENTION_DAYS_MAX, { nullable: true }) retention_days: number | null;
  @OneOf(LEGAL_BASES) legal_basis: string;
  @Flag({ optional: true, description: REQUIRES }) requires_consent?: boolean;
  @OptionalText(REASON_MAX, REASON('German')) reason_de?: string;
  @OptionalText(REASON_MAX, REASON('English')) reason_en?: string;
  @ListOf(() => DataFieldInput, 0, FIELDS_MAX) fields: readonly DataFieldInput[];
  @Timestamp() created_at: string;
  @Timestamp({ optional: true, description: DELETING }) deleting_at?: string;
  @Texts(WARNING_MAX, 1, { optional: true, description: WARNINGS }) warnings?: readonly string[];
}

export class CategoriesView {
  @Of([CategoryView]) categories: CategoryView[];
  @Of(Pagination) pagination: Pagination;
}

/** Answer to the guide's shape. */
export class RegisteredCategoriesView {
  @Of([CategoryView]) categories: CategoryView[];
}

export class CategoryDeletedView {
  @Slug() key: string;
  @ApiProperty({ enum: [true] }) deleted: boolean;
}
