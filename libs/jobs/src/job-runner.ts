import { BeforeApplicationShutdown, Inject, Injectable, Logger } from '@nestjs/common';
import { UnitOfWork } from '@app/database';
import { CONFIG, type Config, describeFault } from '@app/kernel';
import { JobLeases, type Lease, LeaseLost } from './job-leases';

/** Something that one process at a time does now and then. */
export interface Job {
  readonly name: string;
  /** How long after its end it is due again, in whichever process. */
  readonly everyMs: number;
  /** Does what is to be done, in batches of the lease; ends early once `stopping` says so. */
  run(lease: Lease, stopping: AbortSignal): Promise<void>;
}

/**
 * Runs jobs so that over all processes no job runs twice at once, and none is forgotten when its process dies: another
 * one takes it over when the lease has ended. With `JOBS=off` this process runs none.
 */
@Injectable()
export class JobRunner implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Jobs');
  private readonly running = new Map<string, Promise<void>>();
  private readonly stopping = new AbortController();

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly leases: JobLeases,
    @Inject(CONFIG) private readonly config: Pick<Config, 'jobs'>,
  ) {}

  /** Runs the job if it is due, or `now`, and nobody else does; resolves when that is over and never rejects. */
  run(job: Job, when: 'due' | 'now' = 'due'): Promise<void> {
    if (this.config.jobs === 'off' || this.stopping.signal.aborted) return Promise.resolve();
    let running = this.running.get(job.name);
    if (running === undefined) {
      running = this.once(job, when)
        .catch((error: unknown) => this.report(job, error))
        .finally(() => this.running.delete(job.name));
      this.running.set(job.name, running);
    }
    return running;
  }

  /** Begins no further batch, and leaves the jobs to the other processes. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.running.values());
  }

  private async once(job: Job, when: 'due' | 'now'): Promise<void> {
    const lease = await this.unitOfWork.write((tx) => this.leases.take(tx, job.name, when));
    if (lease === undefined) return;
    try {
      await job.run(lease, this.stopping.signal);
    } finally {
      const pauseMs = this.stopping.signal.aborted ? 0 : job.everyMs;
      await this.unitOfWork.write((tx) => lease.end(tx, pauseMs));
    }
  }

  private report({ name, everyMs }: Job, error: unknown): void {
    if (error instanceof LeaseLost) return this.logger.warn(error.message);
    const again = `is run again in ${Math.round(everyMs / 1_000)} s`;
    this.logger.error(`The job ${name} failed and ${again}`, { job: name, ...describeFault(error) });
  }
}
