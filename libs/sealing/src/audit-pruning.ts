import { Injectable } from '@nestjs/common';
import { CountedGuilds, lowerCounts } from '@app/audit';
import { Signer } from '@app/crypto';
import { type Tx, UnitOfWork } from '@app/database';
import type { Lease } from '@app/jobs';
import { Clock, firstIdAt } from '@app/kernel';
import { type BatchRow, batchesAfter, headOf } from './audit-batches';

export const PRUNING_TYPE = 'lethe-audit-pruning+jwt';

/** Events that go by one unit, but for a single batch that has more. */
const CHUNK = 500;
/** Batches looked at by one statement. */
const PAGE = 50;

/**
 * Removes what is older than it has to be kept for (GDPR Art. 5(1)(e)): whole batches from the beginning of a log. The
 * last of them stays as a signed statement that the rest goes on from, so that what is left verifies as before, and
 * nothing can be cut off under the name of pruning.
 */
@Injectable()
export class AuditPruning {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly guilds: CountedGuilds,
    private readonly signer: Signer,
    private readonly clock: Clock,
  ) {}

  /**
   * Removes the batches of a bot that hold nothing written at or after `beforeIso`, a bounded number by each unit of the
   * lease; answers how many events went. What is not sealed yet stays.
   */
  async pruneBefore(lease: Lease, botId: string, beforeIso: string, stopping?: AbortSignal): Promise<number> {
    let events = 0;
    while (stopping?.aborted !== true) {
      const batches = await this.expired(botId, beforeIso);
      const last = batches.at(-1);
      if (last === undefined) return events;
      const statement = await this.statement(last, beforeIso);
      events += await lease.batch((tx) => this.remove(tx, botId, batches, statement));
    }
    return events;
  }

  /** How many events {@link pruneBefore} would remove. */
  async expiredEvents(botId: string, beforeIso: string): Promise<number> {
    const row = await this.unitOfWork.read((tx) =>
      tx.get<{ events: number | null }>(
        'SELECT SUM(events) AS events FROM audit_batches WHERE bot_id = ? AND max_id < ?',
        ...[botId, firstIdAt(beforeIso)],
      ),
    );
    return row?.events ?? 0;
  }

  /** The next ones to go, as many as one unit takes. */
  private async expired(botId: string, beforeIso: string): Promise<BatchRow[]> {
    const bound = firstIdAt(beforeIso);
    const batches = await this.unitOfWork.read(async (tx) => {
      const head = await headOf(tx, botId);
      return head === undefined ? [] : batchesAfter(tx, botId, head.pruned_number, PAGE);
    });
    const kept = batches.findIndex(({ max_id: newest }) => newest >= bound);
    const expired = kept < 0 ? batches : batches.slice(0, kept);
    let events = 0;
    const over = expired.findIndex((batch) => (events += batch.events) > CHUNK);
    return over < 0 ? expired : expired.slice(0, Math.max(1, over));
  }

  private statement(last: BatchRow, beforeIso: string): Promise<string> {
    const { bot_id, number, last_seq, chain } = last;
    const payload = { bot_id, number, last_seq, chain, before: beforeIso, pruned_at: this.clock.nowIso() };
    return this.signer.sign(payload, PRUNING_TYPE);
  }

  private async remove(
    tx: Tx,
    botId: string,
    batches: readonly BatchRow[],
    statement: string,
  ): Promise<number> {
    const [first, last] = [batches[0], batches.at(-1)];
    if (first === undefined || last === undefined) return 0;
    const moved = await tx.run(
      'UPDATE audit_heads SET pruned_number = ?, pruning = ? WHERE bot_id = ? AND pruned_number = ?',
      ...[last.number, statement, botId, first.number - 1],
    );
    if (moved === 0) return 0;
    await tx.run('DELETE FROM audit_batches WHERE bot_id = ? AND number <= ?', botId, last.number);
    await lowerCounts(tx, this.guilds, botId, last.last_seq);
    return tx.run('DELETE FROM audit_events WHERE bot_id = ? AND seq <= ?', botId, last.last_seq);
  }
}
