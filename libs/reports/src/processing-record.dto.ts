import { ChangeNoticeSettings } from '@app/bots';
import {
  DECLARED_TEXT_MAX as TEXT_MAX,
  Flag,
  Integer,
  type Labels,
  LabelsByLanguage,
  Of,
  OneOf,
  Snowflake,
  Text,
  Timestamp,
  Uuid,
} from '@app/http';
import { DOCUMENT_LANGUAGES, type DocumentLanguage } from './documents.texts';

const further = (what: string) => ({
  optional: true,
  description: `${what} in further languages, by language tag (BCP 47)`,
});

/** The form of a paper. */
export class PaperForm {
  @OneOf(['json', 'markdown', 'html'], {
    optional: true,
    description:
      'Takes precedence over the `Accept` header. `markdown` and `html` answer a document without an envelope',
  })
  format?: 'json' | 'markdown' | 'html';
}

export class ProcessingRecordQuery extends PaperForm {
  @OneOf(DOCUMENT_LANGUAGES, {
    optional: true,
    description:
      'The language of the sentences of the service, `en` by default. With it the JSON has `language`, `notice_settings` and `gaps` too',
  })
  language?: DocumentLanguage;
}

export class ControllerView {
  @Uuid() bot_id: string;
  @Snowflake() platform_bot_id: string;
  @Text(100) name: string;
  @Text(254, { nullable: true, description: 'null: none was given' }) privacy_contact: string | null;
}

export class RecipientView {
  @Text(TEXT_MAX) recipient: string;
  @Text(253, { nullable: true, description: 'Host of the webhook URL' }) host: string | null;
  @Text(TEXT_MAX) receives: string;
}

export class TimeLimitView {
  @Text(TEXT_MAX) applies_to: string;
  @Integer(0, 36_500, { nullable: true, description: 'null: no limit by time' }) days: number | null;
}

class FieldView {
  @Text(100) key: string;
  @Text(16) type: string;
  @Text(TEXT_MAX) label_de: string;
  @Text(TEXT_MAX) label_en: string;
  @LabelsByLanguage(TEXT_MAX, further('Labels')) labels?: Labels;
  @Text(TEXT_MAX, { nullable: true }) description: string | null;
  @Text(TEXT_MAX, { optional: true }) description_de?: string;
  @Text(TEXT_MAX, { optional: true }) description_en?: string;
  @LabelsByLanguage(TEXT_MAX, further('Purpose')) descriptions?: Labels;
  @Flag({ optional: true, description: 'true: users can correct it themselves' }) editable?: boolean;
}

export class ActivityView {
  @Text(100, 'The key of the data category') category: string;
  @Text(TEXT_MAX) label_de: string;
  @Text(TEXT_MAX) label_en: string;
  @LabelsByLanguage(TEXT_MAX, further('Labels')) labels?: Labels;
  @Text(TEXT_MAX, { nullable: true, description: 'null: none was declared' }) purpose: string | null;
  @Text(TEXT_MAX, { optional: true, description: 'Where it was declared in German' }) purpose_de?: string;
  @Text(TEXT_MAX, { optional: true, description: 'Where it was declared in English' }) purpose_en?: string;
  @LabelsByLanguage(TEXT_MAX, further('Purpose')) purposes?: Labels;
  @Text(32) legal_basis: string;
  @Flag({ optional: true, description: 'Named where it is false: the category needs no consent' })
  requires_consent?: boolean;
  @Text(TEXT_MAX, { optional: true, description: 'Why no consent is needed, in German' }) reason_de?: string;
  @Text(TEXT_MAX, { optional: true, description: 'Why no consent is needed, in English' }) reason_en?: string;
  @Integer(1, 3650, { nullable: true, description: 'null: none was declared' }) retention_days: number | null;
  @Of([FieldView], 'Empty for a category that takes any object') fields: FieldView[];
}

/** The part of the record before the categories, which are streamed. */
export class ProcessingRecordHead {
  @Timestamp() generated_at: string;
  @Of(ControllerView, 'Art. 30(1)(a)') controller: ControllerView;
  @Text(TEXT_MAX, 'Art. 30(1)(c)') data_subjects: string;
  @Of([RecipientView], 'Art. 30(1)(d)') recipients: RecipientView[];
  @Text(TEXT_MAX, 'Art. 30(1)(e)') transfers: string;
  @Of([TimeLimitView], 'Art. 30(1)(f)') time_limits: TimeLimitView[];
  @Of([String], 'Art. 30(1)(g)') security_measures: readonly string[];
}

export class RecordedSettings extends ChangeNoticeSettings {}

export class GapView {
  @Text(TEXT_MAX, 'What to do, in a sentence') task: string;
  @Text(100, 'The setting of the notice, or the field of the category, that is missing') field: string;
  @Text(100, { optional: true, description: 'The key of the category that it is about' }) category?: string;
}

/** A record of processing activities (GDPR Art. 30(1)); documentation of a streamed answer. */
export class ProcessingRecordView extends ProcessingRecordHead {
  @OneOf(DOCUMENT_LANGUAGES, { optional: true, description: 'As it was asked for' })
  language?: DocumentLanguage;
  @Of(RecordedSettings, {
    optional: true,
    description: 'What the bot has said in its notice settings; with `language`',
  })
  notice_settings?: RecordedSettings;
  @Of([ActivityView], 'Art. 30(1)(b), (c): one for each data category') activities: ActivityView[];
  @Of([GapView], { optional: true, description: 'What is missing, at most 100; with `language`' })
  gaps?: GapView[];
}
