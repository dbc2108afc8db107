import {
  BelongsToBot,
  IdColumn,
  indexName,
  IntegerColumn,
  JsonColumn,
  PrimaryIdColumn,
  PrimarySnowflakeColumn,
  SnowflakeColumn,
  TextColumn,
  TimeColumn,
} from '@app/database';
import type { AuditEventType } from '@app/kernel';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { OwnEventType } from './event-types';

const byType = ['bot_id', 'event_type', 'seq'];
const byGuild = ['bot_id', 'guild_id', 'seq'];
const byGuildAndType = ['bot_id', 'guild_id', 'event_type', 'seq'];
const byUser = ['bot_id', 'user_id', 'seq', 'guild_id', 'event_type'];
const toErase = ['bot_id', 'guild_id', 'user_id'];

/** One event of the audit log. `seq` counts up per bot, in the order of the commits. */
@Entity('audit_events')
@Index(indexName('audit_events', byType), ['botId', 'eventType', 'seq'])
@Index(indexName('audit_events', byGuild), ['botId', 'guildId', 'seq'])
@Index(indexName('audit_events', byGuildAndType), ['botId', 'guildId', 'eventType', 'seq'])
@Index(indexName('audit_events', byUser), ['botId', 'userId', 'seq', 'guildId', 'eventType'])
@Index(indexName('audit_events', toErase), ['botId', 'guildId', 'userId'], {
  where: `"source" = 'client' AND "user_id" < '~'`,
})
export class AuditEvent {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimaryColumn({ type: 'integer' }) seq: number;
  @IdColumn() id: string;
  @SnowflakeColumn({ name: 'guild_id' }) guildId: string;
  @SnowflakeColumn({ name: 'user_id' }) userId: string;
  @Column({ name: 'event_type', type: 'varchar', length: '32' }) eventType: AuditEventType | OwnEventType;
  /** Who says so: `service` for Lethe's own acts, `client` for what a bot has posted. */
  @TextColumn() source: AuditSource;
  @JsonColumn({ nullable: true }) details: object | null;
  @TimeColumn({ name: 'created_at' }) createdAt: string;
  @BelongsToBot('audit_events') bot?: object;
}

export type AuditSource = 'service' | 'client';

/**
 * The number of events per guild and, under the empty guild id, per bot. Each writer counts in a row of its own, so that
 * so that none waits for another: the total is their sum.
 */
@Entity('audit_counts')
export class AuditCount {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimarySnowflakeColumn({ name: 'guild_id' }) guildId: string;
  @PrimaryColumn({ name: 'event_type', type: 'varchar', length: '32' }) eventType: string;
  @PrimaryColumn({ type: 'integer' }) writer: number;
  @IntegerColumn() total: number;
  @BelongsToBot('audit_counts') bot?: object;
}
