import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { KeyRewrite } from '@app/crypto';
import { isUndone, type Tx, UnitOfWork } from '@app/database';
import { type Job, type Lease, PeriodicJob } from '@app/jobs';
import { Clock } from '@app/kernel';

const INTERVAL_MS = 15_000;
const INTERVAL_MAX_MS = 86_400_000;
/** The pause after a run, in times of its work: the work takes less than 0.5 % of the time. */
const REST = 200;
/** The pause after each unit, in times of its work. */
const UNIT_REST = 9;

/**
 * PostgreSQL: removes destroyed keys from the files by a rewrite, and records the time for the erasures of these keys. A key
 * that is destroyed during a rewrite waits for the next one. The work grows with the number of all keys, and so does the
 * time between two rewrites.
 */
@PeriodicJob({ lookEveryMs: INTERVAL_MS })
@Injectable()
export class KeyRewriteJob implements Job {
  readonly name = 'key-rewrite';
  /** Work of the present run, in milliseconds. */
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
    if (this.unitOfWork.engine === 'sqlite') return;
    // Where units that add keys do not end in time, the next run begins the rewrite.
    const from = await lease.batch((tx) => this.rewrite.begin(tx)).catch(unlessUndone);
    if (from === undefined) return;
    for (let page: number | undefined = 0; page !== undefined;) {
      const first: number = page;
      const tookMs = await this.measured(async () => {
        page = await lease.batch((tx) => this.rewrite.move(tx, from, first));
      });
      await pause(tookMs * UNIT_REST, undefined, { signal: stopping }).catch(() => undefined);
      if (stopping.aborted) return;
    }
    let isRemoved = false;
    await this.measured(async () => {
      isRemoved = await lease.keep(() => this.rewrite.removeFile(from));
    });
    while (isRemoved && (await lease.batch((tx) => this.record(tx))) > 0);
  }

  /** For some of the removed keys; answers their number. */
  private async record(tx: Tx): Promise<number> {
    const ids = await this.rewrite.takeRemoved(tx);
    await tx.run(
      'UPDATE deletion_requests SET unrecoverable_at = ? WHERE key_id = ANY(?) AND unrecoverable_at IS NULL',
      ...[this.clock.nowIso(), ids],
    );
    return ids.length;
  }

  private async measured(work: () => Promise<void>): Promise<number> {
    const fromMs = performance.now();
    await work();
    const tookMs = performance.now() - fromMs;
    this.workMs += tookMs;
    return tookMs;
  }
}

function unlessUndone(error: unknown): undefined {
  if (!isUndone(error)) throw error;
}
