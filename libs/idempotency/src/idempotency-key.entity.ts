import {
  BelongsToBot,
  DigestColumn,
  indexName,
  PrimaryDigestColumn,
  PrimaryIdColumn,
  TextColumn,
  TimeColumn,
} from '@app/database';
import type { Digest } from '@app/primitives';
import { Entity, Index } from 'typeorm';

/** An idempotency key whose request took effect. The key itself is not stored. */
@Entity('idempotency_keys')
@Index(indexName('idempotency_keys', ['bot_id', 'guild_id', 'user_id']), ['botId', 'guildId', 'userId'], {
  where: '"user_id" IS NOT NULL',
})
export class IdempotencyKey {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  /** The digest of method, path and key. */
  @PrimaryDigestColumn() id: Digest;
  /** The digest of key and body; empty once the answer is erased. */
  @DigestColumn() request: string;
  /** The subject of the answer, if it has one. */
  @DigestColumn({ name: 'guild_id', nullable: true }) guildId: Digest | null;
  @DigestColumn({ name: 'user_id', nullable: true }) userId: Digest | null;
  /** What the answer is made from; null once its subject is erased. */
  @TextColumn({ nullable: true }) answer: string | null;
  @TimeColumn({ name: 'created_at' }) createdAt: string;
  @BelongsToBot('idempotency_keys') bot?: object;
}
