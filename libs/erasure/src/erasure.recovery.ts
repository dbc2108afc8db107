import { Inject, Injectable } from '@nestjs/common';
import { type Job, type Lease, PeriodicJob } from '@app/jobs';
import { Clock, CONFIG, type Config } from '@app/kernel';
import { ErasureService } from './erasure.service';

/** Time between two runs. */
const INTERVAL_MS = 10_000;
/**
 * On PostgreSQL an erasure older than this counts as left behind; a younger one is probably under way in a process. A
 * SQLite file has one process, which has a list of its own erasures.
 */
const LEFT_AFTER_MS = 10_000;

/**
 * Finishes erasures that were left `processing`, at the start and then at intervals, in one process at a time. When the
 * process that began one is still working on it, one of both completes it and the other changes nothing. On SQLite the
 * server listens after the first run.
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
    return lease.keep(() => this.erasures.finishLeft((at) => this.isLeft(at), stopping));
  }

  private isLeft(createdAt: string): boolean {
    if (this.config.database.engine === 'sqlite') return true;
    // A time in the future was written with a wrong clock.
    return Math.abs(this.clock.nowMs() - Date.parse(createdAt)) > LEFT_AFTER_MS;
  }
}
