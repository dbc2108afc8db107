import { Injectable, Module } from '@nestjs/common';
import { DiscoveryModule, NestFactory } from '@nestjs/core';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { CONFIG } from '@app/kernel';
import { type Job, JobRunner, PeriodicJob, PeriodicJobs } from './job-runner';

@PeriodicJob({ lookEveryMs: 20 })
@Injectable()
class Often implements Job {
  readonly name = 'often';
  readonly everyMs = 1;
  run = (): Promise<void> => Promise.resolve();
}

@PeriodicJob({ lookEveryMs: 60_000, atStart: 'awaited', isInEvery: true })
@Injectable()
class Awaited extends Often {
  override readonly name = 'awaited' as 'often';
}

type Run = (job: Job, when?: 'due' | 'now') => Promise<void>;

function start(run: Run, { jobs = 'on', engine = 'sqlite' } = {}) {
  @Module({
    imports: [DiscoveryModule, ScheduleModule.forRoot()],
    providers: [
      ...[Often, Awaited, PeriodicJobs],
      { provide: JobRunner, useValue: { run } },
      { provide: CONFIG, useValue: { jobs, database: { engine } } },
    ],
  })
  class Jobs {}
  return NestFactory.createApplicationContext(Jobs, { logger: false });
}

describe('periodic jobs', () => {
  it('are run at the start and then looked at until the shutdown', async () => {
    const runs: string[] = [];
    let thirdLook: () => void = () => undefined;
    const looked = new Promise<void>((resolve) => (thirdLook = resolve));
    const nest = await start(async ({ name }, when) => {
      if (runs.push(`${name} ${when ?? 'due'}`) === 4) thirdLook();
    });
    expect(runs.slice(0, 2)).toEqual(['often due', 'awaited now']);
    await looked;
    expect(runs.slice(2)).toEqual(['often due', 'often due']);
    const schedule = nest.get(SchedulerRegistry);
    expect(schedule.getIntervals()).toEqual(['often', 'awaited']);
    await nest.close();
    expect(schedule.getIntervals()).toEqual([]);
  });

  it.each(['sqlite', 'postgres'])(
    'hold up the start on SQLite alone where they say so: %s',
    async (engine) => {
      let end: () => void = () => undefined;
      const running = new Promise<void>((resolve) => (end = resolve));
      let hasStarted = false;
      const starting = start(({ name }) => (name === 'awaited' ? running : Promise.resolve()), { engine });
      const started = starting.then(() => (hasStarted = true));
      if (engine === 'postgres') await started;
      else for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
      expect(hasStarted).toBe(engine === 'postgres');
      end();
      await started;
      await (await starting).close();
    },
  );

  it('are neither run nor looked at with JOBS=off, but for one of every process', async () => {
    const runs: string[] = [];
    const nest = await start(async ({ name }) => void runs.push(name), { jobs: 'off' });
    expect([runs, nest.get(SchedulerRegistry).getIntervals()]).toEqual([['awaited'], ['awaited']]);
    await nest.close();
  });
});
