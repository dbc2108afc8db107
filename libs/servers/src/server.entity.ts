import {
  BelongsToBot,
  IdColumn,
  PrimaryDigestColumn,
  PrimaryIdColumn,
  TextColumn,
  TimeColumn,
} from '@app/database';
import type { Digest } from '@app/crypto';
import { Entity, Index } from 'typeorm';

/** A registered guild of a bot. */
@Entity('servers')
@Index(['botId', 'deletionScheduledFor'], {
  where: '"deletion_scheduled_for" IS NOT NULL',
})
@Index(['botId', 'id'], { unique: true })
export class Server {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimaryDigestColumn({ name: 'guild_id' }) guildId: Digest;
  @IdColumn() id: string;
  /** The id of the guild and its name, encrypted with the installation key. */
  @TextColumn() text: string;
  @TimeColumn({ name: 'created_at' }) createdAt: string;
  /** When all users of the guild will be erased, unless the deletion is cancelled before. */
  @TimeColumn({ name: 'deletion_scheduled_for', nullable: true }) deletionScheduledFor: string | null;
  /** When the deletion began. From then on it cannot be cancelled. */
  @TimeColumn({ name: 'deletion_began_at', nullable: true }) deletionBeganAt: string | null;
  @BelongsToBot('servers') bot?: object;
}
