import { Injectable, Logger, Module } from '@nestjs/common';
import { DiscoveryModule, NestFactory } from '@nestjs/core';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { type Clock, CONFIG, SystemRandom } from '@app/kernel';
import { JobLeases, LEASE_MS, LeaseLost } from './job-leases';
import type { BotSweep } from './bot-sweep';
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

  /** The lines about one run, and the faults in them. */
  async function linesOf({ fails = true, take, end }: { fails?: boolean; take?: Error; end?: Error }) {
    const lines: unknown[] = [];
    for (const level of ['error', 'warn'] as const)
      jest
        .spyOn(Logger.prototype, level)
        .mockImplementation((...args: unknown[]) => void lines.push(args[0]));
    const answer = async (fault: Error | undefined): Promise<void> => {
      if (fault !== undefined) throw fault;
    };
    const unitOfWork = { write: async (work: (tx: unknown) => unknown) => work({}) } as unknown as UnitOfWork;
    const lease = { end: () => answer(end), release: () => undefined };
    const leases = { take: () => answer(take).then(() => lease) } as unknown as JobLeases;
    const run = (): Promise<void> => answer(fails ? new TypeError('its own') : undefined);
    await new JobRunner(unitOfWork, leases).run({ name: 'planted', everyMs: 3_600_000, run });
    return lines;
  }

  const sweep = (fails: boolean): BotSweep => ({
    ...{ name: 'withdrawn-data', everyMs: 1_000 },
    bots: async (after) => ['a', 'b'].find((bot) => bot > after),
    async *batches() {
      if (fails) throw new Error('of each bot');
    },
  });
  const job = (fault?: Error): Job => ({
    ...{ name: 'of another module', everyMs: 1_000 },
    run: () => (fault === undefined ? Promise.resolve() : Promise.reject(fault)),
  });

  it.each([
    ['a run', job(new Error('planted')), ['jobFailures', 'other']],
    ['a run that had a fault for bots', sweep(true), ['jobFailures', 'withdrawn-data']],
    ['no run that ended', job(), undefined],
    ['no sweep that ended', sweep(false), undefined],
    ['no run that another process took over', job(new LeaseLost('planted')), undefined],
  ])('is counted once for %s', async (_, one, counted) => {
    for (const level of ['error', 'warn'] as const) jest.spyOn(Logger.prototype, level).mockReturnValue();
    const lease = { end: () => undefined, release: () => undefined, keep: (work: () => unknown) => work() };
    const unitOfWork = { write: async (work: (tx: unknown) => unknown) => work({}) } as unknown as UnitOfWork;
    const runner = new JobRunner(unitOfWork, { take: async () => lease } as unknown as JobLeases);
    const count = jest.fn();
    Object.assign(runner, { metrics: { count } });
    await runner.run(one);
    expect(count.mock.calls).toEqual(counted === undefined ? [] : [counted]);
  });

  const fault = new Error('of the database');

  it.each([
    ['failed and is run again in 3600 s', {}],
    ['could not begin and is tried again at the next look', { take: fault }],
    ['failed and is run again soon, since its end could not be stored', { end: fault }],
    ['ended and is run again soon, since its end could not be stored', { fails: false, end: fault }],
    ['was taken over by another process', { fails: false, end: new LeaseLost('planted') }],
  ])('says that it %s', async (what, planted) => {
    expect(await linesOf(planted)).toEqual([`The job planted ${what}`]);
  });

  it('is reported with its own fault, also when its lease cannot be ended', async () => {
    await linesOf({ end: fault });
    const [[, given] = []] = jest.mocked(Logger.prototype.error).mock.calls as unknown[][];
    expect(given).toMatchObject({ job: 'planted', fault: 'TypeError' });
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
