import { Injectable } from '@nestjs/common';
import { lowerCounts, removeEvents } from '@app/audit';
import { Signer } from '@app/crypto';
import { type Batches, UnitOfWork } from '@app/database';
import { Clock, firstIdAt } from '@app/kernel';
import { batchesAfter, type BatchRow, headOf } from './audit-batches';

export const PRUNING_TYPE = 'lethe-audit-pruning+jwt';

/** Events removed in one unit, unless a single batch has more. */
const CHUNK = 500;
/** Batches read by one statement. */
const PAGE = 50;

/**
 * Removes batches whose retention is over (GDPR Art. 5(1)(e)), from the beginning of a log. A signed statement about the
 * last removed batch remains and the rest is chained to it: the rest verifies as before, and no other part of the log can
 * be removed under the name of pruning.
 */
@Injectable()
export class AuditPruning {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly signer: Signer,
    private readonly clock: Clock,
  ) {}

  /**
   * Removes the batches of a bot with all events written before `beforeIso`, a bounded number in each unit. Unsealed
   * events stay, and so does a log that lacks its first batch: its verification reports that.
   */
  async *pruneBefore(botId: string, beforeIso: string): Batches {
    for (;;) {
      const batches = await this.expired(botId, beforeIso);
      const [first, last] = [batches[0], batches.at(-1)];
      if (first === undefined || last === undefined) return;
      const { number, last_seq, chain } = last;
      const pruned = { bot_id: botId, number, last_seq, chain, before: beforeIso };
      const statement = await this.signer.sign({ ...pruned, pruned_at: this.clock.nowIso() }, PRUNING_TYPE);
      const removed = yield async (tx) => {
        const moved = await tx.run(
          'UPDATE audit_heads SET pruned_number = ?, pruning = ? WHERE bot_id = ? AND pruned_number = ?',
          ...[number, statement, botId, first.number - 1],
        );
        if (moved === 0) return 0;
        await tx.run('DELETE FROM audit_batches WHERE bot_id = ? AND number <= ?', botId, number);
        await lowerCounts(tx, botId, last_seq);
        return removeEvents(tx, botId, last_seq);
      };
      if (removed === 0) return;
    }
  }

  /** The number of events that {@link pruneBefore} would remove. */
  async expiredEvents(botId: string, beforeIso: string): Promise<number> {
    const row = await this.unitOfWork.read((tx) =>
      tx.get<{ events: number | null }>(
        'SELECT SUM(events) AS events FROM audit_batches WHERE bot_id = ? AND max_id < ? AND sealed_at < ?',
        ...[botId, firstIdAt(beforeIso), beforeIso],
      ),
    );
    return row?.events ?? 0;
  }

  /** The next batches to remove, as many as fit into one unit. For an hour after a long stop ids are older than their events. */
  private async expired(botId: string, beforeIso: string): Promise<BatchRow[]> {
    const bound = firstIdAt(beforeIso);
    const batches = await this.unitOfWork.read(async (tx) => {
      const head = await headOf(tx, botId);
      return head === undefined ? [] : batchesAfter(tx, botId, head.pruned_number, PAGE);
    });
    const kept = batches.findIndex(({ max_id, sealed_at }) => max_id >= bound || sealed_at >= beforeIso);
    const expired = kept < 0 ? batches : batches.slice(0, kept);
    let events = 0;
    const over = expired.findIndex((batch) => (events += batch.events) > CHUNK);
    return over < 0 ? expired : expired.slice(0, Math.max(1, over));
  }
}
