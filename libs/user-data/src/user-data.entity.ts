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
@Index(indexName('user_data', ['bot_id', 'category_key']), ['botId', 'categoryKey'])
export class UserData {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimarySnowflakeColumn({ name: 'guild_id' }) guildId: string;
  @PrimarySnowflakeColumn({ name: 'user_id' }) userId: string;
  @PrimaryColumn({ name: 'category_key', type: 'varchar', length: '100' }) categoryKey: string;
  @TextColumn() value: string;
  @TimeColumn({ name: 'created_at' }) createdAt: string;
  @TimeColumn({ name: 'updated_at' }) updatedAt: string;
  @BelongsToBot('user_data') bot?: object;
}
