import { BelongsToBot, PrimaryDigestColumn, PrimaryIdColumn, TimeColumn } from '@app/database';
import type { Digest } from '@app/crypto';
import { Entity, Index, PrimaryColumn } from 'typeorm';

/** An objection (GDPR Art. 21) or a restriction (Art. 18). */
export const REFUSAL_KINDS = ['objection', 'restriction'] as const;
export type RefusalKind = (typeof REFUSAL_KINDS)[number];

/** What a user has objected to or restricted. */
@Entity('processing_refusals')
@Index(['botId', 'categoryKey'])
export class ProcessingRefusal {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimaryDigestColumn({ name: 'guild_id' }) guildId: Digest;
  @PrimaryDigestColumn({ name: 'user_id' }) userId: Digest;
  /** Empty: an objection to all categories that can be objected to, a restriction of everything. */
  @PrimaryColumn({ name: 'category_key', type: 'varchar', length: '100' }) categoryKey: string;
  @PrimaryColumn({ type: 'varchar', length: '16' }) kind: RefusalKind;
  @TimeColumn({ name: 'created_at' }) createdAt: string;
  @BelongsToBot('processing_refusals') bot?: object;
}
