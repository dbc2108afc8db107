import {
  BelongsToBot,
  indexName,
  PrimaryIdColumn,
  PrimarySnowflakeColumn,
  TextColumn,
  TimeColumn,
} from '@app/database';
import { Entity, Index, PrimaryColumn } from 'typeorm';

/** What is stored about a subject in one category: a JSON object as text, exactly as it is exported. */
@Entity('user_data')
@Index(indexName('user_data', ['bot_id', 'category_key', 'retention_from']), [
  'botId',
  'categoryKey',
  'retentionFrom',
])
@Index(indexName('user_data', ['bot_id', 'withdrawn_at']), ['botId', 'withdrawnAt'], {
  where: '"withdrawn_at" IS NOT NULL',
})
export class UserData {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimarySnowflakeColumn({ name: 'guild_id' }) guildId: string;
  @PrimarySnowflakeColumn({ name: 'user_id' }) userId: string;
  @PrimaryColumn({ name: 'category_key', type: 'varchar', length: '100' }) categoryKey: string;
  @TextColumn() value: string;
  @TimeColumn({ name: 'created_at' }) createdAt: string;
  @TimeColumn({ name: 'updated_at' }) updatedAt: string;
  /**
   * Not later than `updated_at`: when the value was stored first, or looked at last for its age. An update leaves it, and so its
   * index, as it is.
   */
  @TimeColumn({ name: 'retention_from', default: '' }) retentionFrom: string;
  /** Since when the consent that the value rests on is withdrawn. */
  @TimeColumn({ name: 'withdrawn_at', nullable: true }) withdrawnAt: string | null;
  @BelongsToBot('user_data') bot?: object;
}
