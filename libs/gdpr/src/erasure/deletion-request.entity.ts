import {
  BelongsToBot,
  DigestColumn,
  IntegerColumn,
  JsonColumn,
  PrimaryIdColumn,
  TextColumn,
  TimeColumn,
} from '@app/database';
import type { Digest } from '@app/crypto';
import { Entity, Index } from 'typeorm';

/** The states of a deletion request. The comment of `ErasureService` has the table of their transitions. */
export const DELETION_STATUSES = ['processing', 'completed', 'failed'] as const;
type DeletionStatus = (typeof DELETION_STATUSES)[number];

/** An erasure request and its result, kept to prove that it was answered (GDPR Art. 5(2)). */
@Entity('deletion_requests')
@Index(['botId', 'guildId', 'userId', 'id'])
@Index(['botId', 'userId'], {
  unique: true,
  where: `"status" = 'processing'`,
})
@Index(['id'], {
  where: `"unrecoverable_at" IS NULL AND "key_id" IS NOT NULL`,
})
export class DeletionRequest {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimaryIdColumn() id: string;
  @DigestColumn({ name: 'guild_id' }) guildId: Digest;
  @DigestColumn({ name: 'user_id' }) userId: Digest;
  @TextColumn() status: DeletionStatus;
  @JsonColumn({ name: 'deleted_categories', nullable: true }) deletedCategories: readonly string[] | null;
  /** 1 once the receiver has confirmed `user_forgotten`. */
  @IntegerColumn({ name: 'webhook_sent' }) webhookSent: number;
  @TimeColumn({ name: 'created_at' }) createdAt: string;
  @TimeColumn({ name: 'completed_at', nullable: true }) completedAt: string | null;
  /** From this time no table of the database contains the key in its file; null before. */
  @TimeColumn({ name: 'unrecoverable_at', nullable: true }) unrecoverableAt: string | null;
  /** The ids of the subject and the commitment, encrypted with the installation key; null where they are unknown. */
  @TextColumn({ nullable: true }) subject: string | null;
  @TextColumn({ name: 'subject_commitment', nullable: true }) subjectCommitment: string | null;
  /** The id of the destroyed key. */
  @TextColumn({ name: 'key_id', nullable: true }) keyId: string | null;
  /** Numbers of erased rows, by table. */
  @JsonColumn({ name: 'erased_rows', nullable: true }) erasedRows: Readonly<Record<string, number>> | null;
  /** The text of the first issue. */
  @TextColumn({ nullable: true }) certificate: string | null;
  /** Who asked for it; null for one of an earlier release that the bot asked for. */
  @TextColumn({ name: 'via', nullable: true }) by: string | null;

  @BelongsToBot('deletion_requests') bot?: object;
}
