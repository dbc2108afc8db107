import { SchedulerRegistry } from '@nestjs/schedule';
import { Signer } from '@app/crypto';
import {
  type Job,
  JobLeases,
  JobRunner,
  type Lease,
  LEASE_MS,
  LeaseLost,
  Signals,
  type Tx,
  UnitOfWork,
} from '@app/database';
import { Clock, JOB_NAMES } from '@app/kernel';
import { WithdrawnDataErasure } from '@app/user-data';
import { field } from '../support/bot';
import type { TestDatabase } from '../support/database';
import { runNow } from '../support/jobs';
import { Service } from '../support/service';
import { subject } from '../support/snowflakes';
import { ago } from '../support/time';
import { until } from '../support/until';

const HOUR_MS = 3_600_000;

/** Several processes as seen by the database: applications with their own pools. */
let services: Service[];

beforeAll(async () => {
  const made = (database?: TestDatabase) => Object.assign(new Service({}, database), { hasPeriods: true });
  const first = await made().start();
  const others = [1, 2, 3].map(() => made(first.database));
  services = [first, ...(await Promise.all(others.map((other) => other.start())))];
  // On a machine that is stopped for seconds its answer is late: the connection is replaced, and signals are lost.
  services.forEach((_, index) => clearInterval(signalsOf(index)['heartbeat' as never]));
});
afterAll(async () => {
  const [first, ...others] = services;
  for (const other of others) await other.app.close();
  await first?.stop();
});

const at = (index: number): Service => services[index] as Service;
const signalsOf = (index: number): Signals => at(index).app.get(Signals);
const unitOfWork = (index: number): UnitOfWork => at(index).app.get(UnitOfWork);

describe('signals', () => {
  it('reach every other process and not the sender, each signal of a turn once', async () => {
    const heard: string[][] = services.map(() => []);
    services.forEach((_, index) => signalsOf(index).on('tested', (word) => heard[index]?.push(word)));
    for (let times = 0; times < 50; times++) signalsOf(0).tell('tested', `word ${times % 2}`);
    await until(() => heard.slice(1).every((words) => words.length === 2));
    signalsOf(0).tell('tested', 'last');
    await until(() => heard.slice(1).every((words) => words.includes('last')));
    const words = ['word 0', 'word 1', 'last'];
    expect(heard).toEqual([[], words, words, words]);
  });

  it('arrive one by one, none of them waiting for the next, and thousands of them at once too', async () => {
    const heard = new Set<string>();
    signalsOf(1).on('counted', (word) => heard.add(word));
    for (let turn = 0; turn < 50; turn++) {
      signalsOf(0).tell('counted', `${turn}`);
      await until(() => heard.has(`${turn}`), 2);
    }
    for (let word = 0; word < 5_000; word++) signalsOf(0).tell('counted', `many ${word} ${'x'.repeat(40)}`);
    await until(() => heard.size === 5_050);
  });

  it('find their way again after their connection was cut, and say that words may be missing', async () => {
    const heard: string[] = [];
    const gaps = services.map(() => 0);
    signalsOf(2).on('again', (word) => heard.push(word));
    services.forEach((_, index) => signalsOf(index).onGap(() => (gaps[index] = (gaps[index] ?? 0) + 1)));
    await at(0).database.run(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lethe-signals' AND datname = current_database()`,
    );
    // One at the loss, and one at the new connection.
    await until(() => gaps.every((times) => times >= 2));
    signalsOf(0).tell('again', 'here');
    await until(() => heard.length === 1);
    expect(gaps).toEqual([2, 2, 2, 2]);
  });

  it('survive listeners that throw, and signals of foreign senders', async () => {
    const heard: string[] = [];
    signalsOf(3).on('borne', () => {
      throw new Error('planted');
    });
    signalsOf(3).on('borne', (word) => heard.push(word));
    const words = ['', '1', '[1]', '[null]', '[[1]]', '[["borne",1]]'];
    for (const text of [
      '',
      '{',
      '[]',
      'null',
      '{"from":1}',
      ...words.map((some) => `{"from":"x","words":${some}}`),
    ])
      await at(0).database.run(`SELECT pg_notify('lethe', ?)`, text);
    signalsOf(0).tell('borne', 'here');
    await until(() => heard.length === 1);
  });
});

describe('jobs', () => {
  const clocks = (index: number) => ({ jobs: at(index).app.get(JobRunner), unit: unitOfWork(index) });
  const take = (index: number, name: string, when: 'due' | 'now' = 'due') =>
    unitOfWork(index).write((tx) => at(index).app.get(JobLeases).take(tx, name, when));

  /** An expired lease, as of a process that died or was suspended. */
  async function abandoned(index: number, name: string): Promise<Lease> {
    const lease = await take(index, name);
    await at(0).database.run(
      'UPDATE job_leases SET locked_until = ? WHERE name = ?',
      new Date(0).toISOString(),
      name,
    );
    return lease as Lease;
  }

  /** How many wait for the end of a unit. */
  async function waitingFor(tx: Tx): Promise<number> {
    const own = await tx.get<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const blocked = 'SELECT pid FROM pg_stat_activity WHERE ? = ANY (pg_blocking_pids(pid))';
    return (await at(0).database.rows(blocked, own?.pid ?? 0)).length;
  }

  it('run in one process at a time, and once in their time, however many want to', async () => {
    let [runs, under, most, ended] = [0, 0, 0, 0];
    const job: Job = {
      name: 'counted',
      everyMs: 3_600_000,
      run: (lease) =>
        lease.batch(async (tx) => {
          runs++;
          most = Math.max(most, ++under);
          // Until every other process has found that it is being run, or waits to find it.
          await until(async () => under + ended + (await waitingFor(tx)) >= services.length, 2);
          under--;
        }),
    };
    const all = (when: 'due' | 'now') => {
      ended = 0;
      return Promise.all(
        services.map(async (_, index) => {
          await clocks(index).jobs.run(job, when);
          ended++;
        }),
      );
    };
    for (let times = 0; times < 5; times++) await all('due');
    expect({ runs, most }).toEqual({ runs: 1, most: 1 });
    for (let times = 0; times < 10; times++) await all('now');
    expect({ runs, most }).toEqual({ runs: 11, most: 1 });
  });

  it('are taken over when the lease of their process has ended, by one process', async () => {
    await abandoned(0, 'left');
    const taken = await Promise.all([1, 2, 3].map((index) => take(index, 'left')));
    expect(taken.filter((lease) => lease !== undefined)).toHaveLength(1);
    expect(await take(0, 'left')).toBeUndefined();
  });

  it('do nothing more in a process that wakes up after another one has taken over', async () => {
    const sleeper = await abandoned(0, 'fenced');
    const heir = (await take(1, 'fenced')) as Lease;
    let worked = false;
    const late = sleeper.batch(async () => (worked = true));
    await expect(late).rejects.toThrow(LeaseLost);
    expect(worked).toBe(false);
    await expect(unitOfWork(0).write((tx) => sleeper.end(tx, 1_000))).rejects.toThrow(LeaseLost);
    await heir.batch(async () => (worked = true));
    expect(worked).toBe(true);
  });

  it.each([
    ['waits', null, 10_000, 2 * HOUR_MS],
    ['is held', 'one-that-ended', 30 * HOUR_MS, 2 * HOUR_MS],
    ['waits for a day', null, 24 * HOUR_MS, 26 * HOUR_MS],
  ])(
    'are run although their row %s for longer than it can: a clock was ahead',
    async (_, by, everyMs, aheadMs) => {
      const runs: string[] = [];
      const job: Job = { name: `far/${_}`, everyMs, run: async () => void runs.push(job.name) };
      const insert = 'INSERT INTO job_leases (name, locked_by, locked_until) VALUES (?, ?, ?)';
      await at(0).database.run(insert, job.name, by, ago(-aheadMs));
      await clocks(0).jobs.run(job);
      expect(runs).toHaveLength(1);
    },
  );

  it('wait for as long as the longest pause of any process, and no shorter', async () => {
    const runs: string[] = [];
    const run = async (): Promise<void> => void runs.push('too early');
    const insert = 'INSERT INTO job_leases (name, locked_until) VALUES (?, ?)';
    for (const [name, aheadMs] of [
      ['near', HOUR_MS / 2],
      ['rare', 20 * HOUR_MS],
    ] as const)
      await at(0).database.run(insert, name, ago(-aheadMs));
    await clocks(0).jobs.run({ name: 'near', everyMs: 10_000, run });
    await clocks(0).jobs.run({ name: 'rare', everyMs: 10_000, everyMaxMs: 24 * HOUR_MS, run });
    expect(runs).toEqual([]);
  });

  it('are not taken over in the midst of a batch, also when its lease has ended meanwhile', async () => {
    const slow = await abandoned(0, 'slow');
    let inBatch: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => (inBatch = resolve));
    let taken = 0;
    const batch = slow.batch(async (tx) => {
      await tx.run(
        'UPDATE job_leases SET locked_until = ? WHERE name = ?',
        new Date(0).toISOString(),
        'slow',
      );
      inBatch();
      await until(async () => taken + (await waitingFor(tx)) === 3, 2);
    });
    await begun;
    const takes = [1, 2, 3].map((index) => take(index, 'slow').finally(() => taken++));
    expect(await Promise.all(takes)).toEqual([undefined, undefined, undefined]);
    await batch;
  });

  it('keep a lease for as long as they work, and hand it on at a shutdown', async () => {
    const other = await new Service({}, at(0).database).start();
    let [begun, stopped] = [false, false];
    const job: Job = {
      name: 'stopped',
      everyMs: 3_600_000,
      run: async (lease, stopping) => {
        while (!stopping.aborted) {
          await lease.batch((tx) => tx.get('SELECT 1'));
          begun = true;
        }
        stopped = true;
      },
    };
    const run = other.app.get(JobRunner).run(job);
    await until(() => begun);
    await other.app.close();
    await run;
    expect(stopped).toBe(true);
    expect(await take(1, 'stopped')).toBeDefined();
  });

  it('of every module are looked at by every process', () => {
    const jobs = JOB_NAMES.filter((name) => name !== 'other');
    for (const { app } of services) expect(app.get(SchedulerRegistry).getIntervals().sort()).toEqual(jobs);
  });

  it('do not run where JOBS is off, but for the one that writes the time', async () => {
    const off = new Service({ JOBS: 'off' }, at(0).database);
    const idle = await Object.assign(off, { hasPeriods: true }).start();
    expect(idle.app.get(SchedulerRegistry).getIntervals()).toEqual(['clock']);
    await idle.app.close();
    expect(LEASE_MS).toBeLessThan(30_000);
  });
});

describe('a process whose clock is behind', () => {
  it('retires a signing key no earlier than others have signed with it', async () => {
    const { clock } = at(0).app.get<{ clock: Clock }>(Signer);
    const behind = jest.spyOn(clock, 'nowMs').mockReturnValue(Date.parse(ago(HOUR_MS)));
    await at(0).app.get(Signer).rotate();
    behind.mockRestore();
    const [key] = await at(0).database.rows<{ retired_at: string }>(
      `SELECT retired_at FROM keys.service_keys WHERE name = 'signing' AND retired_at IS NOT NULL`,
    );
    expect(key!.retired_at > ago(HOUR_MS / 2)).toBe(true);
  });
});

describe('a process whose clock was ahead', () => {
  const GRACE_MS = 30 * 24 * HOUR_MS;

  it.each([
    ['8 hours', 8 * HOUR_MS],
    ['a year', 365 * 24 * HOUR_MS],
  ])('by %s erases nothing early in one that starts later', async (_, aheadMs) => {
    const first = await new Service().start();
    const bot = await first.registerBot();
    await bot.hasCategory('kept', [field('value')]);
    const who = subject();
    await bot.hasConsent(who);
    await bot.hasData(who, 'kept', { value: 'x' });
    await bot.hasRevoked(who);
    await first.database.run('UPDATE user_data SET withdrawn_at = ?', ago(GRACE_MS - 4 * HOUR_MS));
    await first.database.run(
      `INSERT INTO job_leases (name, locked_until) VALUES ('clock', ?)
       ON CONFLICT (name) DO UPDATE SET locked_by = NULL, locked_until = excluded.locked_until`,
      ago(-aheadMs),
    );
    const later = await new Service({}, first.database).start();
    expect(later.app.get(Clock).confirmedIso() < ago(-2 * HOUR_MS)).toBe(true);
    await runNow(later, WithdrawnDataErasure);
    expect(await first.database.rows('SELECT 1 FROM user_data')).toHaveLength(1);
    await later.app.close();
    await first.stop();
  });
});
