import { Injectable } from '@nestjs/common';
import { Cursors, inclusionPath, merkleRoot } from '@app/crypto';
import { type Tx, UnitOfWork } from '@app/database';
import type { PageQuery } from '@app/http';
import { adminCommand, ApiError, notFound } from '@app/kernel';
import { batchesBackFrom, batchOf, type BatchRow, headOf } from './audit-batches';
import { leafOf } from './audit-leaf';
import { BatchSealer, checkpointJws } from './batch-sealer';
import { EventOpener, unlessErased } from './event-opener';
import type { AuditProofView, CheckpointsView, CheckpointView } from './sealing.dto';

/** Names a checkpoint of a log. */
export interface AuditLogHead {
  readonly number: number;
  readonly chain: string;
}

/** Proofs, for a party that does not trust the service, that an event is in the sealed log. */
@Injectable()
export class AuditProofs {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly opener: EventOpener,
    private readonly sealer: BatchSealer,
    private readonly cursors: Cursors,
  ) {}

  /**
   * Proves one event; an unsealed event is sealed first.
   * @throws ApiError 404 for an unknown event and for one of another bot; 503 while older units that are not committed keep
   * the event from being sealed, and when the log does not fit its seals.
   */
  async proof(botId: string, eventId: string): Promise<AuditProofView> {
    const id = eventId.toLowerCase();
    const found = await this.find(botId, id);
    if (found !== undefined) return found;
    const isSealed = await this.sealer.sealNow(botId);
    const sealed = await this.find(botId, id);
    if (sealed !== undefined) return sealed;
    throw isSealed ? notFound('Audit event') : notSettled();
  }

  /**
   * The newest checkpoint, which covers every event committed before the call.
   * @throws ApiError 503 as {@link proof}.
   */
  async head(botId: string): Promise<AuditLogHead> {
    if (!(await this.sealer.sealNow(botId))) throw notSettled();
    const head = await this.unitOfWork.read((tx) => headOf(tx, botId));
    return { number: head?.number ?? 0, chain: head?.chain ?? '' };
  }

  /** The signed checkpoints, newest first. A party that keeps one can show that the log was changed before it. */
  async checkpoints(botId: string, query: PageQuery): Promise<CheckpointsView> {
    const page = this.cursors.page<[number: number]>(botId, 'checkpoints', query);
    return this.unitOfWork.read(async (tx) => {
      const head = await headOf(tx, botId);
      const { number: newest, pruned_number: pruned } = head ?? { number: 0, pruned_number: 0 };
      const total = newest - pruned;
      // Numbers have no gap, so that a page is found by number.
      const from = page.after === undefined ? newest - page.offset : page.after[0] - 1;
      const size = Math.min(page.limit, from - pruned);
      const read = size > 0 ? await batchesBackFrom(tx, botId, from, size) : [];
      return {
        checkpoints: page.cut(read, ({ number }) => [number]).map(checkpointView),
        pruning: head?.pruning ?? null,
        pagination: page.of(total),
      };
    });
  }

  /** Undefined for an event that no batch has. */
  private async find(botId: string, eventId: string): Promise<AuditProofView | undefined> {
    const read = await unlessErased(async () => ({
      found: await this.unitOfWork.read((tx) => this.findIn(tx, botId, eventId)),
    }));
    return read === undefined ? this.find(botId, eventId) : read.found;
  }

  private async findIn(tx: Tx, botId: string, eventId: string): Promise<AuditProofView | undefined> {
    const batch = await batchOf(tx, botId, eventId);
    if (batch === undefined) return undefined;
    const { events, entries } = await this.opener.sealed(tx, batch);
    const leaves = events.map((event, at) =>
      leafOf(botId, event, entries[at]?.commitment ?? Buffer.alloc(0)),
    );
    const index = events.findIndex(({ id }) => id === eventId);
    const [event, entry] = [events[index], entries[index]];
    if (event === undefined || entry === undefined || merkleRoot(leaves).toString('base64url') !== batch.root)
      throw new ApiError(
        'service_unavailable',
        `The audit log does not fit its seals: the operator has to verify it (${adminCommand('audit:verify')})`,
      );
    return {
      bot_id: botId,
      event: this.opener.disclosed(event, entry),
      leaf_index: index,
      path: inclusionPath(leaves, index).map((hash) => hash.toString('base64url')),
      checkpoint: checkpointJws(batch),
    };
  }
}

function checkpointView(batch: BatchRow): CheckpointView {
  const { number, first_seq, last_seq, events, root, chain, sealed_at } = batch;
  return { number, first_seq, last_seq, events, root, chain, sealed_at, checkpoint: checkpointJws(batch) };
}

/** 503 while older units that are not committed keep events from being sealed. */
export function notSettled(): ApiError {
  return new ApiError('service_unavailable', 'The latest events are not sealed yet: try again');
}
