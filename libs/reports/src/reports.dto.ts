import { Count, DECLARED_TEXT_MAX, field, Flag, ListOf, Of, OneOf, Text, Timestamp } from '@app/http';
import { AUDIT_EVENT_TYPES, isDay } from '@app/kernel';
import { ApiProperty } from '@nestjs/swagger';
import { type Bucket, BUCKETS } from './stats.sql';

export class BreachScopeQuery {
  @Timestamp('The first moment of the period') from: string;
  @Timestamp('The moment at which the period is over; at most 366 days later') to: string;
}

class ActCount {
  @Count('How often') events: number;
  @Count('Users concerned, each counted once for each guild') subjects: number;
}

export class ActCounts {
  @Of(ActCount, 'Values stored or updated') stored: ActCount;
  @Of(ActCount, 'Exports') exported: ActCount;
  @Of(ActCount, 'Values emptied, or removed with their category') deleted: ActCount;
  @Of(ActCount, 'Users erased') erased: ActCount;
}

class AffectedCount {
  @Count('Users, each counted once for each guild') subjects: number;
  @Count('Users, each counted once') users: number;
  @Count('Guilds of these users') guilds: number;
}

class CategoryScope {
  @Text(100) category: string;
  @Text(DECLARED_TEXT_MAX) label_de: string;
  @Text(DECLARED_TEXT_MAX) label_en: string;
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
  @Flag('false: numbers of subjects, users and guilds above 50,000 are estimates, off by about 1 %')
  exact: boolean;
  @Of(
    AffectedCount,
    'Users and guilds with a recorded act in the period; a read of values and a copy of the database are not recorded',
  )
  affected: AffectedCount;
  @Of(ActCounts) acts: ActCounts;
  @Count(
    'In all categories, and not the users: a breach by reads or by a copy of the database can concern every user about whom Lethe holds anything',
  )
  records_held: number;
  @Count('In all categories') records_touched: number;
  @Of([CategoryScope]) categories: CategoryScope[];
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
  @Timestamp('The first moment of the hour or day (UTC)') at: string;
  @ApiProperty({
    type: 'object',
    description: 'For each audit event type the number of events of the service',
    properties: Object.fromEntries(AUDIT_EVENT_TYPES.map((type) => [type, COUNT])),
    required: [...AUDIT_EVENT_TYPES],
    selfRequired: true,
    additionalProperties: COUNT,
  })
  counts: Record<string, number>;
  @Of(WebhookCounts, 'Without pings') webhooks: WebhookCounts;
  @Of(ErasureTimes, {
    nullable: true,
    description: 'Milliseconds from the request to the end of completed erasures; null without one',
  })
  erasure_ms: ErasureTimes | null;
}

export class ConsentCountView {
  @Timestamp('The first moment of the day (UTC)') at: string;
  @Count('Users in guilds whose consent was in force: a user in two guilds is counted twice')
  subjects: number;
  @Timestamp('Of which moment the number is: the end of the day, or earlier for the present day')
  counted_at: string;
}

export class StatsView {
  @Of([StatsBucket], 'Oldest first, without those in which nothing happened') buckets: StatsBucket[];
  @ListOf(
    () => ConsentCountView,
    0,
    401,
    'How many users are under consent, for each day that was counted, oldest first, with `bucket=hour` too. Counting began ' +
      'with the version that has this field, and skips days on which no process ran',
  )
  under_consent: ConsentCountView[];
}
