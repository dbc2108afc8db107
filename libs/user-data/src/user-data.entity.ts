import { BelongsToBot, PrimaryDigestColumn, PrimaryIdColumn, TextColumn, TimeColumn } from '@app/database';
import type { Digest } from '@app/crypto';
import { Entity, Index, PrimaryColumn } from 'typeorm';

/** The value of a subject in one category: a JSON object as encrypted text. */
@Entity('user_data')
@Index(['botId', 'categoryKey', 'retentionFrom'])
@Index(['botId', 'withdrawnAt'], {
  where: '"withdrawn_at" IS NOT NULL',
})
export class UserData {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimaryDigestColumn({ name: 'guild_id' }) guildId: Digest;
  @PrimaryDigestColumn({ name: 'user_id' }) userId: Digest;
  @PrimaryColumn({ name: 'category_key', type: 'varchar', length: '100' }) categoryKey: string;
  @TextColumn() value: string;
  @TimeColumn({ name: 'created_at' }) createdAt: string;
  @TimeColumn({ name: 'updated_at' }) updatedAt: string;
  /**
   * The time in the index of retention, never later than `updated_at`. A submit leaves it as it is, so that it changes no index. The
   * job finds candidates by it, looks at `updated_at`, and sets it to that where the value is still young.
   */
  @TimeColumn({ name: 'retention_from', default: '' }) retentionFrom: string;
  /** When the consent of the value was withdrawn. */
  @TimeColumn({ name: 'withdrawn_at', nullable: true }) withdrawnAt: string | null;
  @BelongsToBot('user_data') bot?: object;
}
