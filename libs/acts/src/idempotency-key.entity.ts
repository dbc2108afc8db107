import {
  BelongsToBot,
  DigestColumn,
  PrimaryDigestColumn,
  PrimaryIdColumn,
  TextColumn,
  TimeColumn,
} from '@app/database';
import type { Digest } from '@app/crypto';
import { Entity } from 'typeorm';

/** An idempotency key whose request took effect. The key itself is not stored. */
@Entity('idempotency_keys')
export class IdempotencyKey {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  /** The digest of method, path and key. */
  @PrimaryDigestColumn() id: Digest;
  /** The digest of key and body. */
  @DigestColumn() request: Digest;
  /** What the answer is made from. */
  @TextColumn() answer: string;
  @TimeColumn({ name: 'created_at' }) createdAt: string;
  @BelongsToBot('idempotency_keys') bot?: object;
}
