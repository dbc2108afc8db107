import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Clock } from '@app/common';
import { type Job, JobRunner, type Lease, UnitOfWork } from '@app/database';
import { ErasureService } from './erasure.service';

/** Erasures that were begun and not finished are looked for this often. */
const INTERVAL_MS = 10_000;
/** One that was begun longer ago than this was left behind; younger ones are most likely under way in some process. */
const LEFT_AFTER_MS = 10_000;

/**
 * Takes up what was left `processing`: before the server listens, and from then on at intervals. Of several processes
 * one does it at a time; an erasure that another one is at is ended by one of both, never twice.
 */
@Injectable()
export class ErasureRecovery implements Job, OnApplicationBootstrap {
  readonly name = 'erasure-recovery';
  readonly everyMs = INTERVAL_MS;

  constructor(
    private readonly erasures: ErasureService,
    private readonly unitOfWork: UnitOfWork,
    private readonly jobs: JobRunner,
    private readonly clock: Clock,
  ) {}

  /** Nest awaits this before the server listens: no request meets an erasure that a crash of all has left half-way. */
  onApplicationBootstrap(): Promise<void> {
    const atStart = { name: this.name, everyMs: this.everyMs, run: (lease: Lease) => this.finish(lease) };
    return this.jobs.run(atStart, 'now');
  }

  @Interval(INTERVAL_MS / 2)
  async tick(): Promise<void> {
    await this.jobs.run(this);
  }

  async run(lease: Lease): Promise<void> {
    const before = new Date(this.clock.nowMs() - LEFT_AFTER_MS).toISOString();
    const left = await this.unitOfWork.get(
      `SELECT 1 FROM deletion_requests WHERE status = 'processing' AND created_at < ? LIMIT 1`,
      before,
    );
    if (left !== undefined) await this.finish(lease, before);
  }

  private finish(lease: Lease, before?: string): Promise<void> {
    return lease.keep(() => this.erasures.finishLeft(before));
  }
}
