import { Injectable, Logger, Module } from '@nestjs/common';
import { DiscoveryModule, NestFactory } from '@nestjs/core';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { type Clock, CONFIG, SystemRandom } from '@app/kernel';
import { JobLeases, LEASE_MS, LeaseLost } from './job-leases';
import { type Job, JobRunner, PeriodicJob, PeriodicJobs } from './job-runner';
import type { Tx } from './tx';
import type { UnitOfWork } from './unit-of-work';

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

describe('a job that fails', () => {
  afterEach(() => jest.restoreAllMocks());

  it('is reported with its own fault, also when its lease cannot be ended', async () => {
    const lines: unknown[] = [];
    for (const level of ['error', 'warn'] as const)
      jest
        .spyOn(Logger.prototype, level)
        .mockImplementation((...args: unknown[]) => void lines.push(args[0]));
    const unitOfWork = { write: (work: (tx: unknown) => unknown) => work({}) } as unknown as UnitOfWork;
    const lease = { end: () => Promise.reject(new LeaseLost('planted')), release: () => undefined };
    const runner = new JobRunner(unitOfWork, { take: async () => lease } as unknown as JobLeases);
    const run = (): Promise<void> => Promise.reject(new Error('its own'));
    await runner.run({ name: 'planted', everyMs: 1_000, run });
    await runner.run({ name: 'planted', everyMs: 1_000, run: () => Promise.resolve() });
    expect(lines).toEqual([
      'The job planted failed and is run again in 1 s',
      'The job planted was taken over by another process',
    ]);
  });
});

describe('the leases of a process with a SQLite file', () => {
  it('are not remembered when their unit was undone', async () => {
    let nowMs = 0;
    const clock = { confirmedMs: () => nowMs, nowMs: () => nowMs } as unknown as Clock;
    const leases = new JobLeases(undefined as unknown as UnitOfWork, clock, new SystemRandom(clock));
    // Nothing is committed.
    const tx = {
      engine: 'sqlite',
      get: async () => undefined,
      run: async () => 1,
      afterCommit: () => undefined,
    };
    for (let times = 0; times < 10; times++, nowMs += LEASE_MS)
      await leases.take(tx as unknown as Tx, `job ${times}`);
    expect(Reflect.get(leases, 'held')).toHaveProperty('size', 1);
  });
});
