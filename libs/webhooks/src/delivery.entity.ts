import { Bot } from '@app/bots';
import {
  IdColumn,
  indexName,
  IntegerColumn,
  PrimaryIdColumn,
  SnowflakeColumn,
  TextColumn,
  TimeColumn,
} from '@app/database';
import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm';
import type { Outcome } from './webhook-sender';

export const DELIVERY_EVENTS = ['user_forgotten', 'consent_revoked', 'ping'] as const;
export type DeliveryEvent = (typeof DELIVERY_EVENTS)[number];

/** `cancelled`: the bot had no URL. All but `delivered` come to life again with a new URL or a redelivery. */
export const DELIVERY_STATUSES = ['pending', 'delivered', 'exhausted', 'gone', 'cancelled'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/**
 * One event on its way to a bot: written in the transaction of the act, and never absent until its record expires.
 * Its id is the `webhook-id` of every attempt. While an attempt is under way `nextAttemptAt` is the end of its lease.
 */
@Entity('webhook_deliveries')
@Index(indexName('webhook_deliveries', ['bot_id', 'next_attempt_at']), ['botId', 'nextAttemptAt'], {
  where: `"status" = 'pending'`,
})
@Index(indexName('webhook_deliveries', ['bot_id', 'status', 'id']), ['botId', 'status', 'id'])
@Index(indexName('webhook_deliveries', ['bot_id', 'user_id', 'id', 'guild_id']), [
  'botId',
  'userId',
  'id',
  'guildId',
])
export class Delivery {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimaryIdColumn() id: string;
  @Column({ type: 'varchar', length: '32' }) event: DeliveryEvent;
  @IdColumn({ name: 'request_id', nullable: true }) requestId: string | null;
  @SnowflakeColumn({ name: 'guild_id', nullable: true }) guildId: string | null;
  @SnowflakeColumn({ name: 'user_id', nullable: true }) userId: string | null;
  /** The body as it is sent and signed; cut to ids and times once it is confirmed. */
  @TextColumn() payload: string;
  @Column({ type: 'varchar', length: '16' }) status: DeliveryStatus;
  /** Attempts that were begun. */
  @IntegerColumn() attempts: number;
  /** Steps of the retry schedule that are used up. */
  @IntegerColumn() retries: number;
  @TimeColumn({ name: 'next_attempt_at' }) nextAttemptAt: string;
  /** After this time a failed attempt is the last one, and what could not be attempted ends `exhausted`. */
  @TimeColumn({ name: 'give_up_at' }) giveUpAt: string;
  @IdColumn({ name: 'locked_by', nullable: true }) lockedBy: string | null;
  @TimeColumn({ name: 'locked_until', nullable: true }) lockedUntil: string | null;
  @TextColumn({ name: 'last_outcome', nullable: true }) lastOutcome: Outcome | null;
  @IntegerColumn({ name: 'last_status', nullable: true }) lastStatus: number | null;
  @TimeColumn({ name: 'created_at' }) createdAt: string;
  @TimeColumn({ name: 'finished_at', nullable: true }) finishedAt: string | null;

  @ManyToOne(() => Bot, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'bot_id', foreignKeyConstraintName: 'fk_webhook_deliveries_bot' })
  bot: Relation<Bot>;
}

/** One attempt and what it led to. A number that is missing was begun by a process that did not live to see the end. */
@Entity('webhook_attempts')
export class Attempt {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimaryIdColumn({ name: 'delivery_id' }) deliveryId: string;
  @PrimaryColumn({ type: 'integer' }) number: number;
  @TimeColumn({ name: 'started_at' }) startedAt: string;
  @IntegerColumn({ name: 'duration_ms' }) durationMs: number;
  @TextColumn() outcome: Outcome;
  @IntegerColumn({ nullable: true }) status: number | null;

  @ManyToOne(() => Bot, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'bot_id', foreignKeyConstraintName: 'fk_webhook_attempts_bot' })
  bot: Relation<Bot>;
}

/** How a bot's receiver fared lately. */
@Entity('webhook_health')
export class ReceiverHealth {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  /** Failed attempts since the last confirmed one. */
  @IntegerColumn() failures: number;
  @TextColumn({ name: 'last_outcome' }) lastOutcome: Outcome;
  @TimeColumn({ name: 'last_delivered_at', nullable: true }) lastDeliveredAt: string | null;
  @TimeColumn({ name: 'last_failed_at', nullable: true }) lastFailedAt: string | null;

  @ManyToOne(() => Bot, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'bot_id', foreignKeyConstraintName: 'fk_webhook_health_bot' })
  bot: Relation<Bot>;
}

/** The URL of a bot was changed, and of its deliveries those with an id above this one still have to follow. */
@Entity('webhook_url_changes')
export class UrlChange {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @IdColumn({ name: 'after_id' }) afterId: string;

  @ManyToOne(() => Bot, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'bot_id', foreignKeyConstraintName: 'fk_webhook_url_changes_bot' })
  bot: Relation<Bot>;
}
