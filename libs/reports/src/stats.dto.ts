import { ApiProperty } from '@nestjs/swagger';
import { Count, field, OneOf, Timestamp } from '@app/http';
import { AUDIT_EVENT_TYPES, isDay } from '@app/kernel';
import { BUCKETS, type Bucket } from './stats.sql';

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
