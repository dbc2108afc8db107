import { BelongsToBot, IntegerColumn, PrimaryIdColumn } from '@app/database';
import { Entity, PrimaryColumn } from 'typeorm';

/** The columns of the 24 hours of a day (UTC). */
export const HOURS = Array.from({ length: 24 }, (_, hour) => `h${String(hour).padStart(2, '0')}`);

/**
 * How often something happened in each hour of a day of a bot (UTC), without a word about whom. The name is an audit event
 * type, `webhook:` with an end, `erasure:` with a step of durations, or `erasure:longest`, whose numbers are milliseconds.
 * If several units can count at the same time, each writer has a row of its own, so that it rarely waits for another one.
 */
@Entity('stats_counts')
export class StatCount {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimaryColumn({ type: 'varchar', length: '10' }) day: string;
  @PrimaryColumn({ type: 'varchar', length: '32' }) name: string;
  @PrimaryColumn({ type: 'integer' }) writer: number;
  @BelongsToBot('stats_counts') bot?: object;
}

for (const hour of HOURS) IntegerColumn({ name: hour })(StatCount.prototype, hour);
