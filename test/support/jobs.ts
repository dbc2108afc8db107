import { randomUUID } from 'node:crypto';
import type { Type } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { SchedulerRegistry } from '@nestjs/schedule';
import { KeyUses } from '@app/bots';
import {
  type Batches,
  type BotSweep,
  inBatches,
  type Job,
  JobLeases,
  JobRunner,
  type Lease,
  PeriodicJob,
  sweepBots,
  UnitOfWork,
} from '@app/database';
import { ErasureWatch } from '@app/gdpr';
import { SealLoop } from '@app/sealing';
import { Dispatcher } from '@app/webhooks';
import type { Service } from './service';
import { until } from './until';

type Process = Pick<Service, 'app'>;

/** Ends the periods of the jobs, and waits for the runs that have begun. */
export async function endPeriods({ app }: Process): Promise<void> {
  const schedule = app.get(SchedulerRegistry, { strict: false });
  for (const name of schedule.getIntervals()) schedule.deleteInterval(name);
  await Promise.all(runsOf(app.get(JobRunner)).values());
}

/** The runs under way, by the names of their jobs. */
const runsOf = (runner: JobRunner) => Reflect.get(runner, 'running') as ReadonlyMap<string, Promise<void>>;

/** One run of a job, due or not, unless another process has it. It begins after the end of a run that is under way. */
export async function runNow({ app }: Process, type: Type<Job | BotSweep>): Promise<void> {
  const [runner, job] = [app.get(JobRunner), app.get<Job | BotSweep>(type, { strict: false })];
  await runsOf(runner).get(job.name);
  await runner.run(job, 'now');
}

/** The jobs that a process starts by itself. */
export function periodicJobs({ app }: Process): Type<Job | BotSweep>[] {
  const jobs = app.get(DiscoveryService, { strict: false }).getProviders({ metadataKey: PeriodicJob.KEY });
  return jobs.map(({ metatype }) => metatype as Type<Job | BotSweep>);
}

/** One run of a sweep with this lease, which is not renewed, until it is stopped. */
export function sweepOnce(
  { app }: Process,
  type: Type<BotSweep>,
  lease: Lease,
  stopping: AbortSignal,
): Promise<number> {
  jest.spyOn(lease, 'keep').mockImplementation((work) => work());
  return sweepBots(app.get(type, { strict: false }), app.get(UnitOfWork), lease, stopping);
}

/** Does all batches; answers the sum of their answers. */
export async function sumOf(service: Process, batches: Batches): Promise<number> {
  const lease = await leased(service, `test-${randomUUID()}`);
  let sum = 0;
  await inBatches(batches, lease, new AbortController().signal, (rows) => (sum += rows));
  return sum;
}

/** The lease of a job, once no process runs it. */
export async function leased({ app }: Process, name: string): Promise<Lease> {
  let lease: Lease | undefined;
  await until(async () => {
    lease = await app.get(UnitOfWork).write((tx) => app.get(JobLeases).take(tx, name, 'now'));
    return lease !== undefined;
  });
  return lease as Lease;
}

/** Ends all that works without being asked, whose units and statements a test would count as those of a request. */
export async function withoutJobs({ app }: Process): Promise<void> {
  for (const type of [JobRunner, SealLoop, Dispatcher, KeyUses, ErasureWatch])
    await app
      .get<{ beforeApplicationShutdown(): Promise<void> }>(type, { strict: false })
      .beforeApplicationShutdown();
}
