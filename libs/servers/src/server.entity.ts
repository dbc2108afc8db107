import {
  BelongsToBot,
  IdColumn,
  indexName,
  PrimaryIdColumn,
  PrimarySnowflakeColumn,
  TextColumn,
  TimeColumn,
} from '@app/database';
import { Entity, Index } from 'typeorm';

/** A guild in which a bot is at work. */
@Entity('servers')
@Index(indexName('servers', ['bot_id', 'id']), ['botId', 'id'], { unique: true })
export class Server {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimarySnowflakeColumn({ name: 'guild_id' }) guildId: string;
  @IdColumn() id: string;
  @TextColumn({ nullable: true }) name: string | null;
  @TimeColumn({ name: 'created_at' }) createdAt: string;
  @BelongsToBot('servers') bot?: object;
}
