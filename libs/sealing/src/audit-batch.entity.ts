import {
  BelongsToBot,
  IdColumn,
  IntegerColumn,
  PrimaryIdColumn,
  TextColumn,
  TimeColumn,
} from '@app/database';
import { Entity, Index, PrimaryColumn } from 'typeorm';

/**
 * A sealed batch of a bot's audit log: one root over its events, chained to the batch before and signed. A row of the
 * log that is changed, removed, added or moved no longer fits its batch.
 */
@Entity('audit_batches')
@Index(['botId', 'maxId', 'minId'])
export class AuditBatch {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  /** Counts up from 1 without a gap. */
  @PrimaryColumn({ type: 'integer' }) number: number;
  @IntegerColumn({ name: 'first_seq' }) firstSeq: number;
  @IntegerColumn({ name: 'last_seq' }) lastSeq: number;
  @IntegerColumn() events: number;
  /** The lowest and the highest event id, by which the batch of an event is found. */
  @IdColumn({ name: 'min_id' }) minId: string;
  @IdColumn({ name: 'max_id' }) maxId: string;
  /** For each event what remains of its personal parts after an erasure: `packed` of audit-leaf.ts. */
  @TextColumn() entries: string;
  @TextColumn() root: string;
  /** A keyed hash over the subjects of the events; an erasure does not change it. */
  @TextColumn() identities: string;
  @TextColumn() previous: string;
  @TextColumn() chain: string;
  @TimeColumn({ name: 'sealed_at' }) sealedAt: string;
  /** The JWS of the checkpoint without its payload, which is computed from this row (RFC 7515 appendix F). */
  @TextColumn() signature: string;
  @BelongsToBot('audit_batches') bot?: object;
}

/** The last batch of a bot's log, and the last one that was pruned. */
@Entity('audit_heads')
export class AuditHead {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @IntegerColumn() number: number;
  @IntegerColumn({ name: 'last_seq' }) lastSeq: number;
  @TextColumn() chain: string;
  /** The last batch that was pruned, 0 for none. */
  @IntegerColumn({ name: 'pruned_number' }) prunedNumber: number;
  /** The signed statement about the pruned batch; the rest of the log is chained to it. */
  @TextColumn({ nullable: true }) pruning: string | null;
  @BelongsToBot('audit_heads') bot?: object;
}
