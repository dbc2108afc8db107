import {
  BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { SchedulerRegistry } from '@nestjs/schedule';
import { UnitOfWork } from './unit-of-work';
import {
  type Config,
  CONFIG,
  describeFault,
  type EndedSpan,
  JOB_NAMES,
  Metrics,
  NO_METRICS,
  Spans,
} from '@app/kernel';
import { type BotSweep, sweepBots } from './bot-sweep';
import { JobLeases, type Lease, LeaseLost } from './job-leases';

/** Recurring work that one process does at a time. */
export interface Job {
  readonly name: string;
  /** The time from its end until it is due again, in any process, in milliseconds. */
  readonly everyMs: number;
  /** The longest `everyMs` that any process can have; without it, `everyMs` is always the same. */
  readonly everyMaxMs?: number;
  /** Does the work in batches of the lease. Ends early when `stopping` is aborted. */
  run(lease: Lease, stopping: AbortSignal): Promise<void>;
}

/**
 * Runs each job in one process at a time. When that process dies, another one takes the job over at the end of its
 * lease.
 */
@Injectable()
export class JobRunner implements BeforeApplicationShutdown {
  @Inject(Metrics) private readonly metrics: Metrics = NO_METRICS;
  @Inject(Spans) private readonly spans = new Spans();
  private readonly logger = new Logger('Jobs');
  private readonly running = new Map<string, Promise<void>>();
  private readonly stopping = new AbortController();

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly leases: JobLeases,
  ) {}

  /** Runs the job if it is due, or `now`, and no other process runs it. Resolves at its end and never rejects. */
  run(job: Job | BotSweep, when: 'due' | 'now' = 'due'): Promise<void> {
    if (this.stopping.signal.aborted) return Promise.resolve();
    let running = this.running.get(job.name);
    if (running === undefined) {
      const outcome: Outcome = { what: 'could not begin and is tried again at the next look' };
      running = this.once(job, when, outcome)
        .catch((error: unknown) => this.report(job, outcome, error))
        .finally(() => this.running.delete(job.name));
      this.running.set(job.name, running);
    }
    return running;
  }

  /** Begins no further batch. The jobs are left to other processes. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.running.values());
  }

  private async once(job: Job | BotSweep, when: 'due' | 'now', outcome: Outcome): Promise<void> {
    const pauseMaxMs = ('everyMaxMs' in job ? job.everyMaxMs : undefined) ?? job.everyMs;
    const lease = await this.unitOfWork.write((tx) => this.leases.take(tx, job.name, when, pauseMaxMs));
    if (lease === undefined) return;
    const startedMs = performance.now();
    const pauseMs = (): number => (this.stopping.signal.aborted ? 0 : job.everyMs);
    let fault: string | undefined;
    try {
      if ('run' in job) await job.run(lease, this.stopping.signal);
      else if ((await sweepBots(job, this.unitOfWork, lease, this.stopping.signal)) > 0)
        this.countFailure(job);
    } catch (error) {
      if (!(error instanceof LeaseLost)) this.countFailure(job);
      fault = error instanceof Error ? error.name : typeof error;
      outcome.what = `failed and is run again in ${Math.round(pauseMs() / 1_000)} s`;
      throw error;
    } finally {
      this.spans.receive?.(jobSpan(job.name, performance.now() - startedMs, fault));
      await this.unitOfWork
        .write((tx) => lease.end(tx, pauseMs()))
        .finally(() => lease.release())
        .catch((error: unknown) => {
          outcome.what = `${fault === undefined ? 'ended' : 'failed'} and is run again soon, since its end could not be stored`;
          // The fault of the job itself is the one to report.
          if (fault === undefined) throw error;
        });
    }
  }

  private countFailure({ name }: Job | BotSweep): void {
    this.metrics.count('jobFailures', JOB_NAMES.find((known) => known === name) ?? 'other');
  }

  private report({ name }: Job | BotSweep, { what }: Outcome, error: unknown): void {
    if (error instanceof LeaseLost) return this.logger.warn(error.message);
    this.logger.error(`The job ${name} ${what}`, { job: name, ...describeFault(error) });
  }
}

/** What a failed run says to the operator. */
interface Outcome {
  what: string;
}

function jobSpan(name: string, tookMs: number, fault: string | undefined): EndedSpan {
  const attributes = { 'lethe.job': name, ...(fault !== undefined && { 'error.type': fault }) };
  return { name: `job ${name}`, kind: 'internal', tookMs, attributes };
}

/** When each process asks whether a {@link Job} is due. */
export interface Period {
  /** Milliseconds from one question to the next; the first comes at the start of the process. */
  readonly lookEveryMs: number;
  /** `now` runs the job at the start, due or not; `awaited` too, and on SQLite the server listens only after it. */
  readonly atStart?: 'due' | 'now' | 'awaited';
  /** Also with `JOBS=off`. */
  readonly isInEvery?: boolean;
}

/** Marks a provider as a {@link Job} or {@link BotSweep} that every process starts by itself, with `JOBS=off` only one that is in every process. */
export const PeriodicJob = DiscoveryService.createDecorator<Period>();

/** Starts the periodic jobs of all modules. Its module starts last, so that the modules of the jobs are ready. */
@Injectable()
export class PeriodicJobs implements OnApplicationBootstrap {
  constructor(
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    private readonly schedule: SchedulerRegistry,
    private readonly jobs: JobRunner,
    @Inject(CONFIG) private readonly config: Pick<Config, 'database' | 'jobs'>,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const awaited: Promise<void>[] = [];
    for (const wrapper of this.discovery.getProviders({ metadataKey: PeriodicJob.KEY })) {
      const job = wrapper.instance as Job | BotSweep;
      const {
        lookEveryMs,
        atStart = 'due',
        isInEvery = false,
      } = this.discovery.getMetadataByDecorator(PeriodicJob, wrapper) as Period;
      if (this.config.jobs === 'off' && !isInEvery) continue;
      this.schedule.addInterval(
        job.name,
        setInterval(() => void this.jobs.run(job), lookEveryMs),
      );
      const first = this.jobs.run(job, atStart === 'due' ? 'due' : 'now');
      // Other processes on PostgreSQL answer requests meanwhile anyway.
      if (atStart === 'awaited' && this.config.database.engine === 'sqlite') awaited.push(first);
    }
    await Promise.all(awaited);
  }
}
