import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { type Job, JobRunner, type Lease } from '@app/jobs';
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
 * a time; an erasure that another one is at is ended by one of both, never twice.
 */
@Injectable()
export class ErasureRecovery implements Job, OnApplicationBootstrap {
  readonly name = 'erasure-recovery';
  readonly everyMs = INTERVAL_MS;

  constructor(
    private readonly erasures: ErasureService,
    private readonly jobs: JobRunner,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * On SQLite Nest awaits this before the server listens: no request meets an erasure that a crash has left half-way.
   * On PostgreSQL other processes answer meanwhile anyway, and nobody waits for what they have left.
   */
  async onApplicationBootstrap(): Promise<void> {
    const taken = this.jobs.run(this, 'now');
    if (this.config.database.engine === 'sqlite') await taken;
  }

  @Interval(INTERVAL_MS / 2)
  async tick(): Promise<void> {
    await this.jobs.run(this);
  }

  run(lease: Lease, stopping: AbortSignal): Promise<void> {
    return lease.keep(() => this.erasures.finishLeft(this.leftBefore(), stopping));
  }

  private leftBefore(): string | undefined {
    if (this.config.database.engine === 'sqlite') return undefined;
    return new Date(this.clock.nowMs() - LEFT_AFTER_MS).toISOString();
  }
}
