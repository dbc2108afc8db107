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

/** A registered guild of a bot. */
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
  /** When all users of the guild will be erased, unless the deletion is cancelled before. */
  @TimeColumn({ name: 'deletion_scheduled_for', nullable: true }) deletionScheduledFor: string | null;
  /** When the deletion began. From then on it cannot be cancelled. */
  @TimeColumn({ name: 'deletion_began_at', nullable: true }) deletionBeganAt: string | null;
  @BelongsToBot('servers') bot?: object;
}
