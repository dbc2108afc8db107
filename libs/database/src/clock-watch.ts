import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { UnitOfWork } from './unit-of-work';
import { Clock, Degradations, HOUR_MS } from '@app/kernel';
import { type Job, PeriodicJob } from './job-runner';
import { LEASE_MS } from './job-leases';
import type { Tx } from './tx';

const LOOK_MS = 5_000;
/** A smaller deviation is not reported, in milliseconds. */
const REPORTED_MS = 60_000;
/** How far a process believes the record of another machine ahead of both its own clock and the server's, in milliseconds. */
const AHEAD_MAX_MS = HOUR_MS;
const CLOCK_STEP = 'clock_step';
/** The name of the lease that has the newest time on record. */
export const CLOCK_LEASE = 'clock';

/**
 * The witnesses of the {@link Clock}: across starts the newest time on record, which is the row of this job, and while the
 * process runs the monotonic clock. A deviation is logged and degrades the process. Every process writes the time: while any of
 * them runs, it passes for those that start.
 */
@PeriodicJob({ lookEveryMs: 60_000, isInEvery: true })
@Injectable()
export class ClockWatch implements Job, OnModuleInit, OnModuleDestroy {
  readonly name = CLOCK_LEASE;
  readonly everyMs = 60_000;
  private readonly logger = new Logger('Clock');
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    private readonly degradations: Degradations,
  ) {}

  async onModuleInit(): Promise<void> {
    const row = await this.unitOfWork.get<{ locked_by: string | null; locked_until: string }>(
      'SELECT locked_by, locked_until FROM job_leases WHERE name = ?',
      this.name,
    );
    if (row !== undefined) {
      const untilMs = Date.parse(row.locked_until);
      const fromMs = untilMs - (row.locked_by === null ? this.everyMs : LEASE_MS);
      const latestMs = await this.latestMs();
      this.clock.continueFrom(Math.min(fromMs, latestMs), Math.min(untilMs, latestMs));
    }
    this.look();
    this.timer = setInterval(() => this.look(), LOOK_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  /** The end of the job writes the time. */
  run(): Promise<void> {
    return Promise.resolve();
  }

  /** The latest time that is believed: a SQLite file has one machine, whose clock may have been set back since. */
  private async latestMs(): Promise<number> {
    if (this.unitOfWork.engine === 'sqlite') return Infinity;
    return (await notBeforeServer(this.unitOfWork, this.clock.wallMs())) + AHEAD_MAX_MS;
  }

  /** Reports a deviation that began or ended. */
  look(): void {
    this.clock.nowMs();
    const { deviationMs } = this.clock;
    const deviates = Math.abs(deviationMs) > REPORTED_MS;
    if (!this.degradations.note(CLOCK_STEP, deviates)) return;
    if (!deviates)
      return this.logger.log('The clock of the machine agrees again with the time that has passed');
    const minutes = Math.round(Math.abs(deviationMs) / 60_000);
    this.logger.warn(
      deviationMs > 0
        ? `The clock of the machine is ${minutes} minutes ahead of the time that has passed, or Lethe did not run for so long: what is due by it is erased when this has lasted for an hour`
        : `The clock of the machine went back by ${minutes} minutes: the times of Lethe do not run back and approach it`,
    );
  }
}

/**
 * `ms`, or the time of the server of the database where that is later: the clock of one machine can be behind that of others. A
 * SQLite file has one machine.
 */
export async function notBeforeServer(database: UnitOfWork | Tx, ms: number): Promise<number> {
  if (database.engine === 'sqlite') return ms;
  const sql = 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000) AS ms';
  return Math.max(ms, Number((await database.get<{ ms: string }>(sql))?.ms));
}
