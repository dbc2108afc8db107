import { Inject, Injectable } from '@nestjs/common';
import { type Job, type Lease, PeriodicJob } from '@app/jobs';
import { Clock, CONFIG, type Config } from '@app/kernel';
import { ErasureService } from './erasure.service';

/** Erasures that were begun and not finished are looked for this often. */
const INTERVAL_MS = 10_000;
/**
 * On PostgreSQL, one that was begun longer ago than this was left behind; younger ones are most likely under way in
 * some process. A SQLite file has one process, which knows its own.
 */
const LEFT_AFTER_MS = 10_000;

/**
 * Takes up what was left `processing`, at the start and from then on at intervals. Of several processes one does it at
 * a time; an erasure that another one is at is ended by one of both, never twice. On SQLite no request meets an erasure
 * that a crash has left half-way.
 */
@PeriodicJob({ lookEveryMs: INTERVAL_MS / 2, atStart: 'awaited' })
@Injectable()
export class ErasureRecovery implements Job {
  readonly name = 'erasure-recovery';
  readonly everyMs = INTERVAL_MS;

  constructor(
    private readonly erasures: ErasureService,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  run(lease: Lease, stopping: AbortSignal): Promise<void> {
    return lease.keep(() => this.erasures.finishLeft(this.leftBefore(), stopping));
  }

  private leftBefore(): string | undefined {
    if (this.config.database.engine === 'sqlite') return undefined;
    return new Date(this.clock.nowMs() - LEFT_AFTER_MS).toISOString();
  }
}
