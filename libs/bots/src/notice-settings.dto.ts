import {
  Email,
  field,
  Flag,
  HttpsUrl,
  Integer,
  ListOf,
  Of,
  OneOf,
  type Presence,
  Text,
  Timestamp,
} from '@app/http';
import { ApiProperty } from '@nestjs/swagger';

const RECIPIENTS_MAX = 20;
const NAME_MAX = 200;
const ADDRESS_MAX = 500;
const PURPOSE_MAX = 500;
const TEXT_MAX = 2_000;

const COUNTRY = /^[A-Z]{2}$/;

const Country = (given: Presence): PropertyDecorator =>
  field(
    {
      check: (value) => typeof value === 'string' && COUNTRY.test(value),
      message: 'must be the two capital letters of a country (ISO 3166), for example US',
      schema: { type: 'string', pattern: COUNTRY.source, example: 'US' },
    },
    given,
  );

const AUTOMATED = ['none', 'exist'] as const;

const given = (description?: string): Presence => ({
  optional: true,
  nullable: true,
  ...(description !== undefined && { description }),
});

export class NoticeRecipient {
  @Text(NAME_MAX) name: string;
  @Text(PURPOSE_MAX, given('What the recipient does with the data, in German')) purpose_de?: string | null;
  @Text(PURPOSE_MAX, given('What the recipient does with the data, in English')) purpose_en?: string | null;
  @Country(given('Where it is; a country outside of the European Economic Area makes it a transfer'))
  country?: string | null;
  @Text(PURPOSE_MAX, given('What protects a transfer (Art. 44 to 49), in German')) safeguards_de?:
    string | null;
  @Text(PURPOSE_MAX, given('What protects a transfer (Art. 44 to 49), in English')) safeguards_en?:
    string | null;
}

/** What a bot can say about itself. A text that only one language has is shown to readers of the other one too. */
export class ChangeNoticeSettings {
  @Flag(given('true: the page `/notice/{bot_id}` shows the notice to everybody. It needs `controller_name`'))
  public?: boolean | null;
  @Text(NAME_MAX, given('Who is responsible: a person or an organisation (Art. 13(1)(a))'))
  controller_name?: string | null;
  @Text(ADDRESS_MAX, given('Its postal address')) controller_address?: string | null;
  @Email(given('Its e-mail address, where it is not `privacy_contact` of the bot')) controller_email?:
    string | null;
  @Text(NAME_MAX, given('The data protection officer (Art. 13(1)(b))')) officer_name?: string | null;
  @Email(given()) officer_email?: string | null;
  @ListOf(() => NoticeRecipient, 0, RECIPIENTS_MAX, given('Replaces the whole list (Art. 13(1)(e), (f))'))
  recipients?: NoticeRecipient[] | null;
  @Text(TEXT_MAX, given('The legitimate interests that are pursued (Art. 13(1)(d)), in German'))
  interests_de?: string | null;
  @Text(TEXT_MAX, given('The same in English')) interests_en?: string | null;
  @Text(TEXT_MAX, given('Where data comes from that users do not give (Art. 14(2)(f)), in German'))
  source_de?: string | null;
  @Text(TEXT_MAX, given('The same in English')) source_en?: string | null;
  @OneOf(AUTOMATED, given('Automated decisions (Art. 22, 13(2)(f)); `exist` needs a text that explains them'))
  automated_decisions?: (typeof AUTOMATED)[number] | null;
  @Text(TEXT_MAX, given('What is decided, by which logic and with which effect, in German'))
  automated_decisions_de?: string | null;
  @Text(TEXT_MAX, given('The same in English')) automated_decisions_en?: string | null;
  @Text(NAME_MAX, given('The supervisory authority (Art. 13(2)(d))')) authority_name?: string | null;
  @HttpsUrl(given()) authority_url?: string | null;
  @HttpsUrl(given("The bot's own privacy policy")) notice_url?: string | null;
}

class NoticeChange {
  @Timestamp() at: string;
  @Of([String], 'The names of the changed settings') fields: string[];
}

/** A country of recipients, for readers who have no list of countries. */
class NoticeCountry {
  @Country({}) country: string;
  @Text(NAME_MAX, 'Its name in German') name_de: string;
  @Text(NAME_MAX, 'Its name in English') name_en: string;
  @Flag('Whether data sent there leaves the European Economic Area (Art. 44)') third_country: boolean;
}

/** The settings of a notice: what is not set is not in the answer. */
export class NoticeSettingsView extends ChangeNoticeSettings {
  @Timestamp({
    nullable: true,
    description:
      'Of the settings, the removal of a category, or a new name or shown contact of the bot; null: nothing was set yet',
  })
  updated_at: string | null;
  @Of([NoticeChange], 'The latest 20 changes, newest first') changes: NoticeChange[];
  @ListOf(() => NoticeCountry, 0, RECIPIENTS_MAX, {
    optional: true,
    description: 'Read only: the countries of the recipients, each once; left out where none is set',
  })
  countries?: NoticeCountry[];
  @ApiProperty({
    required: false,
    format: 'uri',
    description: 'Read only: where everybody reads the notice, while it is public and `PUBLIC_URL` is set',
  })
  page_url?: string;
  @Integer(0, 90, {
    nullable: true,
    description:
      'Read only: `REVOKED_DATA_GRACE_DAYS`, after which the data is erased that rested on a withdrawn consent; null: never',
  })
  data_after_withdrawal: number | null;
}
