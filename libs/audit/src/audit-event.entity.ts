import {
  BelongsToBot,
  DigestColumn,
  IdColumn,
  IntegerColumn,
  PrimaryDigestColumn,
  PrimaryIdColumn,
  TextColumn,
  TimeColumn,
} from '@app/database';
import type { Digest } from '@app/crypto';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { AnyEventType } from './event-types';

/** One event of the audit log. `seq` counts up per bot, in the order of the commits. */
@Entity('audit_events')
@Index(['botId', 'eventType', 'seq'])
@Index(['botId', 'guildId', 'seq'])
@Index(['botId', 'guildId', 'eventType', 'seq'])
@Index(['botId', 'userId', 'seq', 'guildId', 'eventType'])
export class AuditEvent {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimaryColumn({ type: 'integer' }) seq: number;
  @IdColumn() id: string;
  @DigestColumn({ name: 'guild_id' }) guildId: Digest;
  @DigestColumn({ name: 'user_id' }) userId: Digest;
  @Column({ name: 'event_type', type: 'varchar', length: '32' }) eventType: AnyEventType;
  /** Who says so: `service` for Lethe's own acts, `client` for what a bot has posted. */
  @TextColumn() source: AuditSource;
  /** JSON, encrypted with the key of the subject, or of the installation in an event about an erasure. */
  @TextColumn() details: string;
  @TimeColumn({ name: 'created_at' }) createdAt: string;
  @BelongsToBot('audit_events') bot?: object;
}

export type AuditSource = 'service' | 'client';

/**
 * The number of events per guild and, under the empty guild id, per bot. Each writer counts in a row of its own, so that
 * none waits for another: the total is their sum.
 */
@Entity('audit_counts')
export class AuditCount {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimaryDigestColumn({ name: 'guild_id' }) guildId: Digest | '';
  @PrimaryColumn({ name: 'event_type', type: 'varchar', length: '32' }) eventType: string;
  @PrimaryColumn({ type: 'integer' }) writer: number;
  @IntegerColumn() total: number;
  @BelongsToBot('audit_counts') bot?: object;
}
