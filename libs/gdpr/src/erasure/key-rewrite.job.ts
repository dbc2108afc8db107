import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { KeyRewrite } from '@app/crypto';
import { isUndone, type Job, type Lease, LEASE_MS, pages, PeriodicJob, UnitOfWork } from '@app/database';
import { Clock } from '@app/kernel';

const INTERVAL_MS = 15_000;
const INTERVAL_MAX_MS = 86_400_000;
/** The pause after a rewrite, in times of its units: they take less than 0.5 % of the time. */
const REST = 200;
/** The pause after each unit, in times of its work. */
const UNIT_REST = 9;
/** Requests of one unit. */
const BATCH = 500;

interface Waiting {
  readonly bot_id: string;
  readonly id: string;
  readonly key_id: string;
}

const WAITING = `SELECT bot_id, id, key_id FROM deletion_requests
  WHERE unrecoverable_at IS NULL AND key_id IS NOT NULL AND status = 'completed' AND id > ? ORDER BY id LIMIT ${BATCH}`;
const RECORD = `UPDATE deletion_requests SET unrecoverable_at = CASE WHEN completed_at > ? THEN completed_at ELSE ? END
  WHERE bot_id = ? AND id = ?`;

/**
 * Removes destroyed keys from the files by a rewrite, and records the time for the erasures of these keys. A key that is
 * destroyed during a rewrite waits for the next one. The work grows with the number of all keys, and so does the time
 * between two rewrites. On SQLite only requests that came from PostgreSQL wait for their time.
 */
@PeriodicJob({ lookEveryMs: INTERVAL_MS })
@Injectable()
export class KeyRewriteJob implements Job {
  readonly name = 'key-rewrite';
  readonly everyMaxMs = INTERVAL_MAX_MS;
  /** Work of the units of the last rewrite, in milliseconds. */
  private workMs = 0;

  constructor(
    private readonly rewrite: KeyRewrite,
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  get everyMs(): number {
    return Math.min(Math.max(INTERVAL_MS, this.workMs * REST), INTERVAL_MAX_MS);
  }

  async run(lease: Lease, stopping: AbortSignal): Promise<void> {
    this.workMs = 0;
    try {
      if (this.unitOfWork.engine === 'postgres' && !(await this.rewritten(lease, stopping))) return;
      await this.recordAll(lease, stopping);
    } catch (error) {
      // Units of others did not end in time, or the service stops. The next run continues.
      if (!isUndone(error)) throw error;
    }
  }

  /** False for a rewrite that is not ended: the next run continues it soon. */
  private async rewritten(lease: Lease, stopping: AbortSignal): Promise<boolean> {
    const from = await lease.batch((tx) => this.rewrite.begin(tx));
    if (from === undefined) return true;
    let workMs = 0;
    for (let page: number | undefined = 0; page !== undefined && !stopping.aborted;) {
      const first: number = page;
      const fromMs = performance.now();
      page = await lease.batch((tx) => this.rewrite.move(tx, from, first));
      const tookMs = performance.now() - fromMs;
      workMs += tookMs;
      const restMs = Math.min(tookMs * UNIT_REST, LEASE_MS / 4);
      await pause(restMs, undefined, { signal: stopping }).catch(() => undefined);
    }
    if (stopping.aborted) return false;
    if (!(await lease.keep(() => this.rewrite.removeFile(lease, from, stopping)))) return false;
    while ((await lease.batch((tx) => this.rewrite.forgetRemoved(tx))) > 0)
      if (stopping.aborted) return false;
    this.workMs = workMs;
    return true;
  }

  /** For every completed erasure whose key is in no file. */
  private async recordAll(lease: Lease, stopping: AbortSignal): Promise<void> {
    const read = (after: Waiting | undefined): Promise<Waiting[]> =>
      this.unitOfWork.read((tx) => tx.all(WAITING, after?.id ?? ''));
    for await (const waiting of pages(BATCH, read)) {
      if (stopping.aborted) return;
      await lease.batch(async (tx) => {
        const keyIds = waiting.map((request) => request.key_id);
        const left = await this.rewrite.inFiles(tx, keyIds);
        const now = this.clock.nowIso();
        for (const { bot_id: botId, id, key_id: keyId } of waiting)
          if (!left.has(keyId)) await tx.run(RECORD, now, now, botId, id);
      });
    }
  }
}
