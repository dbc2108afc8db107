import { BelongsToBot, IntegerColumn, PrimaryIdColumn } from '@app/database';
import { Entity, PrimaryColumn } from 'typeorm';

export const BUCKETS = ['hour', 'day'] as const;
export type Bucket = (typeof BUCKETS)[number];

/**
 * How often something happened in an hour or a day of a bot (UTC), without a word about whom. The name is an audit event
 * type, `webhook:` with an end, or `erasure:` with a step of durations. Where several units can count at the same time,
 * each writer has a row of its own, so that it rarely waits for another one: the total is their sum.
 */
@Entity('stats_counts')
export class StatCount {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimaryColumn({ type: 'varchar', length: '4' }) bucket: Bucket;
  @PrimaryColumn({ name: 'begins_at', type: 'varchar', length: '24' }) beginsAt: string;
  @PrimaryColumn({ type: 'varchar', length: '32' }) name: string;
  @PrimaryColumn({ type: 'integer' }) writer: number;
  @IntegerColumn() total: number;
  /** The longest duration of an erasure in milliseconds; 0 for all other names. */
  @IntegerColumn({ name: 'longest_ms' }) longestMs: number;
  @BelongsToBot('stats_counts') bot?: object;
}
