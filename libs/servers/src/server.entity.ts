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
@Index(indexName('servers', ['bot_id', 'deletion_scheduled_for']), ['botId', 'deletionScheduledFor'], {
  where: '"deletion_scheduled_for" IS NOT NULL',
})
@Index(indexName('servers', ['bot_id', 'id']), ['botId', 'id'], { unique: true })
export class Server {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimarySnowflakeColumn({ name: 'guild_id' }) guildId: string;
  @IdColumn() id: string;
  @TextColumn({ nullable: true }) name: string | null;
  @TimeColumn({ name: 'created_at' }) createdAt: string;
  /** When everybody in it will be erased, unless that is called off before. */
  @TimeColumn({ name: 'deletion_scheduled_for', nullable: true }) deletionScheduledFor: string | null;
  /** Since when that is under way; from then on it is not called off any more. */
  @TimeColumn({ name: 'deletion_began_at', nullable: true }) deletionBeganAt: string | null;
  @BelongsToBot('servers') bot?: object;
}
