import {
  BelongsToBot,
  IdColumn,
  indexName,
  IntegerColumn,
  PrimaryIdColumn,
  TextColumn,
  TimeColumn,
} from '@app/database';
import { Entity, Index, PrimaryColumn } from 'typeorm';

/**
 * A stretch of a bot's audit log that is sealed: one root over its events, chained to the batch before and signed. No
 * row of the log within it can be changed, removed, added or moved without showing.
 */
@Entity('audit_batches')
@Index(indexName('audit_batches', ['bot_id', 'max_id', 'min_id']), ['botId', 'maxId', 'minId'])
export class AuditBatch {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  /** Counts up from 1 without a gap. */
  @PrimaryColumn({ type: 'integer' }) number: number;
  @IntegerColumn({ name: 'first_seq' }) firstSeq: number;
  @IntegerColumn({ name: 'last_seq' }) lastSeq: number;
  @IntegerColumn() events: number;
  /** The lowest and the highest id, by which the batch of an event is found. */
  @IdColumn({ name: 'min_id' }) minId: string;
  @IdColumn({ name: 'max_id' }) maxId: string;
  /** For each event what stays of its personal parts: batch-entries.ts. */
  @TextColumn() entries: string;
  @TextColumn() root: string;
  /** A keyed hash over whose events they are; it survives their erasure. */
  @TextColumn() identities: string;
  @TextColumn() previous: string;
  @TextColumn() chain: string;
  @TimeColumn({ name: 'sealed_at' }) sealedAt: string;
  /** The checkpoint's JWS without its payload, which is the row itself (RFC 7515 appendix F). */
  @TextColumn() signature: string;
  @BelongsToBot('audit_batches') bot?: object;
}

/** How far a bot's log is sealed, and up to where it was pruned. */
@Entity('audit_heads')
export class AuditHead {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @IntegerColumn() number: number;
  @IntegerColumn({ name: 'last_seq' }) lastSeq: number;
  @TextColumn() chain: string;
  /** The last batch that was pruned, 0 for none. */
  @IntegerColumn({ name: 'pruned_number' }) prunedNumber: number;
  /** The signed statement of it, from which the rest of the log goes on. */
  @TextColumn({ nullable: true }) pruning: string | null;
  @BelongsToBot('audit_heads') bot?: object;
}
