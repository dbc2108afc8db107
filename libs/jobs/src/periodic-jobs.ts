import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { SchedulerRegistry } from '@nestjs/schedule';
import { CONFIG, type Config } from '@app/kernel';
import type { BotSweep } from './bot-sweep';
import { type Job, JobRunner } from './job-runner';

/** When each process asks whether a {@link Job} is due. */
export interface Period {
  /** Milliseconds from one question to the next; the first comes at the start of the process. */
  readonly lookEveryMs: number;
  /** `now` runs the job at the start, due or not; `awaited` too, and on SQLite the server listens only after it. */
  readonly atStart?: 'due' | 'now' | 'awaited';
}

/** Marks a provider as a {@link Job} or {@link BotSweep} that every process with `JOBS=on` starts by itself. */
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
    if (this.config.jobs === 'off') return;
    const awaited: Promise<void>[] = [];
    for (const wrapper of this.discovery.getProviders({ metadataKey: PeriodicJob.KEY })) {
      const job = wrapper.instance as Job | BotSweep;
      const { lookEveryMs, atStart = 'due' } = this.discovery.getMetadataByDecorator(
        PeriodicJob,
        wrapper,
      ) as Period;
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
