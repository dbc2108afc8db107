import { BelongsToBot, PrimaryDigestColumn, PrimaryIdColumn, TextColumn, TimeColumn } from '@app/database';
import type { Digest } from '@app/crypto';
import { Entity, Index } from 'typeorm';

/** What a user wants to be reminded of. */
@Entity('reminders')
@Index(['botId', 'updatedAt'])
@Index(['botId', 'withdrawnAt'], {
  where: '"withdrawn_at" IS NOT NULL',
})
export class Reminder {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimaryDigestColumn({ name: 'guild_id' }) guildId: Digest;
  @PrimaryDigestColumn({ name: 'user_id' }) userId: Digest;
  @PrimaryIdColumn() id: string;
  /** Encrypted with the key of the subject. */
  @TextColumn() text: string;
  @TimeColumn({ name: 'due_at' }) dueAt: string;
  /** The `retention_days` of the category count from here. */
  @TimeColumn({ name: 'updated_at' }) updatedAt: string;
  /** Since when the consent is withdrawn; Lethe sets and clears it. */
  @TimeColumn({ name: 'withdrawn_at', nullable: true }) withdrawnAt: string | null;
  @BelongsToBot('reminders') bot?: object;
}
