import { BelongsToBot, IntegerColumn, PrimaryIdColumn, TimeColumn } from '@app/database';
import { Entity, PrimaryColumn } from 'typeorm';

/** How many subjects of a bot were under consent at the end of a day (UTC), or at the last count of the present day. */
@Entity('stats_consents')
export class ConsentCount {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimaryColumn({ type: 'varchar', length: '10' }) day: string;
  @IntegerColumn() total: number;
  @TimeColumn({ name: 'counted_at' }) countedAt: string;
  @BelongsToBot('stats_consents') bot?: object;
}
