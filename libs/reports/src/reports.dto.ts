import {
  Count,
  field,
  Flag,
  Integer,
  type Labels,
  LabelsByLanguage,
  OneOf,
  Snowflake,
  Text,
  Timestamp,
  Uuid,
} from '@app/http';
import { AUDIT_EVENT_TYPES, isDay } from '@app/kernel';
import { ApiProperty } from '@nestjs/swagger';
import { type Bucket, BUCKETS } from './stats.sql';

export class BreachScopeQuery {
  @Timestamp({ description: 'The first moment of the period' }) from: string;
  @Timestamp({ description: 'The moment at which the period is over; at most 366 days later' }) to: string;
}

class ActCount {
  @Count('How often') events: number;
  @Count('Users concerned, each counted once for each guild') subjects: number;
}

export class ActCounts {
  @ApiProperty({ type: ActCount, description: 'Values stored or updated' }) stored: ActCount;
  @ApiProperty({ type: ActCount, description: 'Exports' }) exported: ActCount;
  @ApiProperty({ type: ActCount, description: 'Values emptied, or removed with their category' })
  deleted: ActCount;
  @ApiProperty({ type: ActCount, description: 'Users erased' }) erased: ActCount;
}

class AffectedCount {
  @Count('Users, each counted once for each guild') subjects: number;
  @Count('Users, each counted once') users: number;
  @Count('Guilds of these users') guilds: number;
}

class CategoryScope {
  @Text(100) category: string;
  @Text(2_000) label_de: string;
  @Text(2_000) label_en: string;
  @Count('Records stored in this category now: users, each counted once for each guild') records_held: number;
  @Count('Records of which the last change was made in the period')
  records_touched: number;
}

/** The numbers for the notification of a breach (GDPR Art. 33(3)(a)); names no user. */
export class BreachScopeView {
  @Timestamp() from: string;
  @Timestamp() to: string;
  @Timestamp() generated_at: string;
  @Timestamp({
    nullable: true,
    description:
      'Time of the oldest event in the log; earlier events are not counted. null: the log is empty',
  })
  log_begins_at: string | null;
  @Flag({
    description: 'false: numbers of subjects, users and guilds above 50,000 are estimates, off by about 1 %',
  })
  exact: boolean;
  @ApiProperty({
    type: AffectedCount,
    description: 'Users and guilds with any act on their data in the period',
  })
  affected: AffectedCount;
  @ApiProperty({ type: ActCounts }) acts: ActCounts;
  @Count('In all categories') records_held: number;
  @Count('In all categories') records_touched: number;
  @ApiProperty({ type: [CategoryScope] }) categories: CategoryScope[];
}

const TEXT_MAX = 10_000;

const further = (what: string) => ({
  optional: true,
  description: `${what} in further languages, by language tag (BCP 47)`,
});

export class ProcessingRecordPath {
  @Uuid() bot_id: string;
}

export class ProcessingRecordQuery {
  @OneOf(['json', 'markdown'], {
    optional: true,
    description:
      'Takes precedence over the `Accept` header. `markdown` answers text/markdown without an envelope',
  })
  format?: 'json' | 'markdown';
}

class ControllerView {
  @Uuid() bot_id: string;
  @Snowflake() platform_bot_id: string;
  @Text(100) name: string;
  @Text(254, { nullable: true, description: 'null: none was given' }) privacy_contact: string | null;
}

class RecipientView {
  @Text(TEXT_MAX) recipient: string;
  @Text(253, { nullable: true, description: 'Host of the webhook URL' }) host: string | null;
  @Text(TEXT_MAX) receives: string;
}

class TimeLimitView {
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
}

export class ActivityView {
  @Text(100, { description: 'The key of the data category' }) category: string;
  @Text(TEXT_MAX) label_de: string;
  @Text(TEXT_MAX) label_en: string;
  @LabelsByLanguage(TEXT_MAX, further('Labels')) labels?: Labels;
  @Text(TEXT_MAX, { nullable: true, description: 'null: none was declared' }) purpose: string | null;
  @Text(TEXT_MAX, { optional: true, description: 'Where it was declared in German' }) purpose_de?: string;
  @Text(TEXT_MAX, { optional: true, description: 'Where it was declared in English' }) purpose_en?: string;
  @LabelsByLanguage(TEXT_MAX, further('Purpose')) purposes?: Labels;
  @Text(32) legal_basis: string;
  @Integer(1, 3650, { nullable: true, description: 'null: none was declared' }) retention_days: number | null;
  @ApiProperty({ type: [FieldView], description: 'Empty for a category that takes any object' })
  fields: FieldView[];
}

/** The part of the record before the categories, which are streamed. */
export class ProcessingRecordHead {
  @Timestamp() generated_at: string;
  @ApiProperty({ type: ControllerView, description: 'Art. 30(1)(a)' }) controller: ControllerView;
  @Text(TEXT_MAX, { description: 'Art. 30(1)(c)' }) data_subjects: string;
  @ApiProperty({ type: [RecipientView], description: 'Art. 30(1)(d)' }) recipients: RecipientView[];
  @Text(TEXT_MAX, { description: 'Art. 30(1)(e)' }) transfers: string;
  @ApiProperty({ type: [TimeLimitView], description: 'Art. 30(1)(f)' }) time_limits: TimeLimitView[];
  @ApiProperty({ type: [String], description: 'Art. 30(1)(g)' }) security_measures: readonly string[];
}

/** A record of processing activities (GDPR Art. 30(1)); documentation of a streamed answer. */
export class ProcessingRecordView extends ProcessingRecordHead {
  @ApiProperty({ type: [ActivityView], description: 'Art. 30(1)(b), (c): one for each data category' })
  activities: ActivityView[];
}

const COUNT = { type: 'integer', minimum: 0 } as const;

/** A day that the calendar has, such as 2026-02-28. */
const CalendarDate = (description: string): PropertyDecorator =>
  field(
    {
      check: isDay,
      message: 'must be a date of a day that exists, without a time, such as 2026-01-31',
      schema: { type: 'string', format: 'date' },
    },
    { optional: true, description },
  );

export class StatsQuery {
  @CalendarDate('The first day (UTC); 29 days before `to` by default') from?: string;
  @CalendarDate('The last day (UTC), at most 400 days after `from`; today by default') to?: string;
  @OneOf(BUCKETS, {
    optional: true,
    description: '`day` by default. `hour` for at most 31 days',
  })
  bucket?: Bucket;
}

class WebhookCounts {
  @Count('Deliveries that the receiver has confirmed') delivered: number;
  @Count('Attempts without a confirmation') failed: number;
  @Count('Deliveries that were given up, also because of 410') exhausted: number;
}

class ErasureTimes {
  @Count('Half of the erasures took no longer; off by 10 % at most') p50: number;
  @Count('95 % of the erasures took no longer; off by 10 % at most') p95: number;
  @Count('The longest one, exactly') max: number;
}

export class StatsBucket {
  @Timestamp({ description: 'The first moment of the hour or day (UTC)' }) at: string;
  @ApiProperty({
    type: 'object',
    description: 'For each audit event type the number of events of the service',
    properties: Object.fromEntries(AUDIT_EVENT_TYPES.map((type) => [type, COUNT])),
    required: [...AUDIT_EVENT_TYPES],
    selfRequired: true,
    additionalProperties: COUNT,
  })
  counts: Record<string, number>;
  @ApiProperty({ type: WebhookCounts, description: 'Without pings' }) webhooks: WebhookCounts;
  @ApiProperty({
    type: ErasureTimes,
    nullable: true,
    description: 'Milliseconds from the request to the end of completed erasures; null without one',
  })
  erasure_ms: ErasureTimes | null;
}

export class StatsView {
  @ApiProperty({ type: [StatsBucket], description: 'Oldest first, without those in which nothing happened' })
  buckets: StatsBucket[];
}
