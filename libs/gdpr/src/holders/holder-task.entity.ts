import {
  BelongsToBot,
  IntegerColumn,
  JsonColumn,
  PrimaryIdColumn,
  TextColumn,
  TimeColumn,
} from '@app/database';
import { Entity, Index, PrimaryColumn } from 'typeorm';
import type { BotHolder } from './bot-holder.entity';

/** What a holder answers. `failed` leaves its task open. */
export const TASK_ANSWERS = ['erased', 'nothing', 'kept', 'failed'] as const;
export type TaskAnswer = (typeof TASK_ANSWERS)[number];

/** `abandoned`: the holder was deleted before it answered. */
export const TASK_RESULTS = [...TASK_ANSWERS, 'abandoned'] as const;
type TaskResult = (typeof TASK_RESULTS)[number];

/** What a holder declared when it answered: a later change of the holder does not change what was answered. */
export type DeclaredHolder = Pick<BotHolder, 'labelDe' | 'labelEn' | 'covers' | 'publicKey'>;

/**
 * The task of a holder to erase a user in its store. It names the erasure, which has the ids of the user, and is removed with it:
 * no column has an id of a user or its digest.
 */
@Entity('holder_tasks')
@Index(['botId', 'requestId'])
@Index(['botId', 'holderKey', 'createdAt', 'requestId'], {
  where: `"open" = 1`,
})
@Index(['botId', 'holderKey', 'answeredAt', 'requestId'], {
  where: `"open" = 0`,
})
export class HolderTask {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimaryColumn({ name: 'holder_key', type: 'varchar', length: '100' }) holderKey: string;
  @PrimaryIdColumn({ name: 'request_id' }) requestId: string;
  /** When the erasure was completed. */
  @TimeColumn({ name: 'created_at' }) createdAt: string;
  /** 1 until there is a final result: any but `failed`. */
  @IntegerColumn() open: number;
  @TextColumn({ nullable: true }) result: TaskResult | null;
  @JsonColumn({ nullable: true }) counts: Readonly<Record<string, number>> | null;
  @TextColumn({ name: 'kept_basis', nullable: true }) keptBasis: string | null;
  @TimeColumn({ name: 'kept_until', nullable: true }) keptUntil: string | null;
  /** Compact JWS that the holder has signed. */
  @TextColumn({ nullable: true }) statement: string | null;
  /** Null without an answer. */
  @JsonColumn({ nullable: true }) declared: DeclaredHolder | null;
  /** Binds the answer to the installation key: `AnswerSeals`. */
  @TextColumn({ nullable: true }) seal: string | null;
  /** Time of the latest answer, `failed` too. */
  @TimeColumn({ name: 'answered_at', nullable: true }) answeredAt: string | null;
  @BelongsToBot('holder_tasks') bot?: object;
}
