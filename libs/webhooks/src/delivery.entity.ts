import {
  BelongsToBot,
  DigestColumn,
  IdColumn,
  IntegerColumn,
  PrimaryIdColumn,
  TextColumn,
  TimeColumn,
} from '@app/database';
import type { Digest } from '@app/crypto';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { Outcome } from './webhook-call';
import type { DeliveryEvent } from './webhook-events';

/** `cancelled`: the bot had no URL. All but `delivered` are queued again by a new URL or a redelivery. */
export const DELIVERY_STATUSES = ['pending', 'delivered', 'exhausted', 'gone', 'cancelled'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/**
 * One event for a bot, stored in the unit of the act and kept until its record expires. Its id is the `webhook-id` of
 * every attempt. During an attempt `nextAttemptAt` is the end of its lease.
 */
@Entity('webhook_deliveries')
@Index(['botId', 'nextAttemptAt'], {
  where: `"status" = 'pending'`,
})
@Index(['botId', 'status', 'id'])
@Index(['botId', 'userId', 'id', 'guildId'])
export class Delivery {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimaryIdColumn() id: string;
  @Column({ type: 'varchar', length: '32' }) event: DeliveryEvent;
  /** The erasure that the event is about: it is queued by it, and outlives the key of its subject. */
  @IdColumn({ name: 'request_id', nullable: true }) requestId: string | null;
  @DigestColumn({ name: 'guild_id', nullable: true }) guildId: Digest | null;
  @DigestColumn({ name: 'user_id', nullable: true }) userId: Digest | null;
  /** The signed body, encrypted ({@link DeliveryTexts}); reduced to ids, keys and times after the confirmation. */
  @TextColumn() payload: string;
  @Column({ type: 'varchar', length: '16' }) status: DeliveryStatus;
  /** Number of attempts begun. */
  @IntegerColumn() attempts: number;
  /** Number of used steps of the retry schedule. */
  @IntegerColumn() retries: number;
  @TimeColumn({ name: 'next_attempt_at' }) nextAttemptAt: string;
  /** After this time no further attempt is made, and the delivery ends as `exhausted`. */
  @TimeColumn({ name: 'give_up_at' }) giveUpAt: string;
  @IdColumn({ name: 'locked_by', nullable: true }) lockedBy: string | null;
  @TimeColumn({ name: 'locked_until', nullable: true }) lockedUntil: string | null;
  @TextColumn({ name: 'last_outcome', nullable: true }) lastOutcome: Outcome | null;
  @IntegerColumn({ name: 'last_status', nullable: true }) lastStatus: number | null;
  @TimeColumn({ name: 'created_at' }) createdAt: string;
  @TimeColumn({ name: 'finished_at', nullable: true }) finishedAt: string | null;

  @BelongsToBot('webhook_deliveries') bot?: object;
}

/** The number of the latest attempts of a delivery that are kept: one that is repeated by hand can have any number. */
export const ATTEMPTS_KEPT = 100;

/** One attempt and its outcome. A missing number belongs to an attempt whose process died. */
@Entity('webhook_attempts')
export class Attempt {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimaryIdColumn({ name: 'delivery_id' }) deliveryId: string;
  @PrimaryColumn({ type: 'integer' }) number: number;
  @TimeColumn({ name: 'started_at' }) startedAt: string;
  @IntegerColumn({ name: 'duration_ms' }) durationMs: number;
  @TextColumn() outcome: Outcome;
  @IntegerColumn({ nullable: true }) status: number | null;

  @BelongsToBot('webhook_attempts') bot?: object;
}

/** The latest results of a bot's receiver. */
@Entity('webhook_health')
export class ReceiverHealth {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  /** Failed attempts since the last confirmed one. */
  @IntegerColumn() failures: number;
  @TextColumn({ name: 'last_outcome' }) lastOutcome: Outcome;
  @TimeColumn({ name: 'last_delivered_at', nullable: true }) lastDeliveredAt: string | null;
  @TimeColumn({ name: 'last_failed_at', nullable: true }) lastFailedAt: string | null;

  @BelongsToBot('webhook_health') bot?: object;
}

/** A changed URL of a bot: deliveries with an id after this one still have to follow. */
@Entity('webhook_url_changes')
export class UrlChange {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @IdColumn({ name: 'after_id' }) afterId: string;

  @BelongsToBot('webhook_url_changes') bot?: object;
}
