import {
  BelongsToBot,
  IdColumn,
  IntegerColumn,
  PrimaryDigestColumn,
  PrimaryIdColumn,
  TextColumn,
  TimeColumn,
} from '@app/database';
import type { Digest } from '@app/crypto';
import { Entity, Index, PrimaryColumn } from 'typeorm';

/** What a holder answers to an export. `failed` leaves its task open. */
export const EXPORT_ANSWERS = ['exported', 'nothing', 'failed'] as const;
export type ExportAnswer = (typeof EXPORT_ANSWERS)[number];

/**
 * The latest question to a holder about a user, and its latest answer: at most one row, and so one open task, for each holder
 * and subject. A new question keeps the earlier answer until the next one comes.
 */
@Entity('holder_exports')
@Index(['botId', 'holderKey', 'taskId'], { unique: true })
@Index(['botId', 'holderKey', 'createdAt', 'taskId'], {
  where: `"open" = 1`,
})
@Index(['botId', 'answeredAt'])
export class HolderExport {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimaryDigestColumn({ name: 'guild_id' }) guildId: Digest;
  @PrimaryDigestColumn({ name: 'user_id' }) userId: Digest;
  @PrimaryColumn({ name: 'holder_key', type: 'varchar', length: '100' }) holderKey: string;
  @IdColumn({ name: 'task_id' }) taskId: string;
  /** The ids of the user, encrypted with the key of the subject: an erasure makes them unreadable in every copy. */
  @TextColumn() ids: string;
  /** When the holder was asked. */
  @TimeColumn({ name: 'created_at' }) createdAt: string;
  /** 1 until there is an answer other than `failed`. */
  @IntegerColumn() open: number;
  @TimeColumn({ name: 'failed_at', nullable: true }) failedAt: string | null;
  @TextColumn({ nullable: true }) result: 'exported' | 'nothing' | null;
  /** The JSON text that the holder has stated, encrypted with the key of the subject. */
  @TextColumn({ nullable: true }) answer: string | null;
  @TimeColumn({ name: 'answered_at', nullable: true }) answeredAt: string | null;
  @BelongsToBot('holder_exports') bot?: object;
}
