import { Injectable } from '@nestjs/common';
import { IdColumn, TimeColumn } from './schema';
import { amongValues, type Tx } from './tx';
import { UnitOfWork } from './unit-of-work';
import { Clock, DAY_MS, HOUR_MS, OwnError, Random } from '@app/kernel';
import { Entity, PrimaryColumn } from 'typeorm';

/** How long a lease is valid without renewal, in milliseconds. Then another process can take over the job. */
export const LEASE_MS = 20_000;
/** A row that holds or waits for longer than it can by so much, in milliseconds, was written with a wrong clock and counts for nothing. */
const AHEAD_MAX_MS = HOUR_MS;

/** Another process has taken over the job. Nothing of the batch is stored. */
export class LeaseLost extends OwnError {
  constructor(name: string) {
    super(`The job ${name} was taken over by another process`);
  }
}

/** Until when a mark of a job with this beginning waits ({@link Lease.lasting}), as an ISO time; undefined without one. */
export async function lastingUntil(
  reader: Pick<UnitOfWork, 'get'>,
  job: string,
  beginning: string,
): Promise<string | undefined> {
  const sql = 'SELECT MAX(locked_until) AS at FROM job_leases WHERE name LIKE ?';
  return (await reader.get<{ at: string | null }>(sql, `${job}/${beginning}%`))?.at ?? undefined;
}

/** The right to do one job, until the job ends or another process takes it over. */
export class Lease {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    readonly name: string,
    private readonly id: string,
    private readonly held: Map<string, number>,
  ) {}

  /**
   * Runs a batch of the job in one unit that holds the lease until its commit. Two processes never run batches of one
   * job at the same time, even after a long pause of one of them.
   * @throws LeaseLost when another process has taken over.
   */
  batch<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.unitOfWork.write(async (tx) => {
      await this.set(tx, this.id, LEASE_MS);
      return work(tx);
    });
  }

  /** Renews the lease while `work` runs in its own units. `work` must be safe to run twice. */
  async keep<T>(work: () => Promise<T>): Promise<T> {
    const renewal = setInterval(() => {
      this.batch(async () => undefined).catch(() => undefined);
    }, LEASE_MS / 4).unref();
    try {
      return await work();
    } finally {
      clearInterval(renewal);
    }
  }

  /**
   * Those of `found` that the job, in whatever process, has found `forMs` milliseconds ago or earlier and at each time since. A row
   * of each, named after the job, says from when on.
   */
  async lasting(tx: Tx, found: readonly string[], forMs: number): Promise<string[]> {
    const nowMs = this.clock.confirmedMs();
    const [now, then] = [nowMs, nowMs + forMs].map((ms) => new Date(ms).toISOString()) as [string, string];
    const prefix = `${this.name}/`;
    const among = amongValues(
      tx,
      'name',
      found.map((each) => prefix + each),
    );
    // A row of a later time was written with a wrong clock.
    await tx.run(
      `DELETE FROM job_leases WHERE name LIKE ? AND (locked_until > ? OR NOT ${among.sql})`,
      ...[`${prefix}%`, then, among.value],
    );
    const note = 'INSERT INTO job_leases (name, locked_until) VALUES (?, ?) ON CONFLICT DO NOTHING';
    await Promise.all(found.map((each) => tx.run(note, prefix + each, then)));
    const old = `SELECT name FROM job_leases WHERE ${among.sql} AND locked_until <= ?`;
    const rows = await tx.all<{ name: string }>(old, among.value, now);
    return rows.map(({ name }) => name.slice(prefix.length));
  }

  /** This process no longer does the job, which it may have left unfinished for the next one who takes it. */
  release(): void {
    this.held.delete(this.id);
  }

  /** Ends the job. It is due again after `pauseMs`; without `pauseMs` the lease is deleted. */
  async end(tx: Tx, pauseMs?: number): Promise<void> {
    tx.afterCommit(() => this.release());
    if (pauseMs !== undefined) await this.set(tx, null, pauseMs);
    else await tx.run('DELETE FROM job_leases WHERE name = ? AND locked_by = ?', this.name, this.id);
  }

  private async set(tx: Tx, holder: string | null, forMs: number): Promise<void> {
    const until = new Date(this.clock.confirmedMs() + forMs).toISOString();
    const held = await tx.run(
      'UPDATE job_leases SET locked_by = ?, locked_until = ? WHERE name = ? AND locked_by = ?',
      ...[holder, until, this.name, this.id],
    );
    if (held === 0) throw new LeaseLost(this.name);
  }
}

/**
 * Gives each job to one process at a time. A row holds the process and the end of its lease, or, without a process, the
 * time when the job is due. A row of {@link Lease.lasting} is no lease.
 */
@Injectable()
export class JobLeases {
  /**
   * On SQLite: the leases of this process, and until when each counts, in milliseconds: a committed one until it is released,
   * another one as long as its row, since its unit can be undone.
   */
  private readonly held = new Map<string, number>();

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /**
   * Resolves to undefined while another process has the job, or it is not due. `now` also takes a job before it is due. On SQLite
   * the job also stays with whatever part of this process does it, until the lease is released.
   * @param pauseMaxMs the longest pause with which a process ends the job
   */
  async take(
    tx: Tx,
    name: string,
    when: 'due' | 'now' = 'due',
    pauseMaxMs = DAY_MS,
  ): Promise<Lease | undefined> {
    const nowMs = this.clock.confirmedMs();
    const until = new Date(nowMs + LEASE_MS).toISOString();
    const id = this.random.uuid();
    for (const [past, untilMs] of this.held) if (untilMs <= nowMs) this.held.delete(past);
    const found = await tx.get<{ locked_by: string | null; locked_until: string }>(
      'SELECT locked_by, locked_until FROM job_leases WHERE name = ? FOR UPDATE SKIP LOCKED',
      name,
    );
    if (found !== undefined) {
      const leftMs = Date.parse(found.locked_until) - nowMs;
      const longestMs = found.locked_by === null ? pauseMaxMs : LEASE_MS;
      const waits = leftMs > 0 && leftMs <= longestMs + AHEAD_MAX_MS;
      const hereUntilMs = this.held.get(tx.engine === 'sqlite' ? (found.locked_by ?? '') : '');
      if (hereUntilMs === Infinity || (hereUntilMs !== undefined && waits)) return undefined;
      // Any other lease in a SQLite file is of a process that has ended, since the file has one process.
      if (waits && (found.locked_by === null ? when === 'due' : tx.engine === 'postgres')) return undefined;
    }
    const taken =
      found === undefined
        ? await tx.run(
            'INSERT INTO job_leases (name, locked_by, locked_until) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
            ...[name, id, until],
          )
        : await tx.run(
            'UPDATE job_leases SET locked_by = ?, locked_until = ? WHERE name = ?',
            ...[id, until, name],
          );
    if (taken !== 1) return undefined;
    // Before the commit: units of the same commit find the lease too.
    if (tx.engine === 'sqlite') {
      this.held.set(id, nowMs + LEASE_MS);
      tx.afterCommit(() => this.held.set(id, Infinity));
    }
    return new Lease(this.unitOfWork, this.clock, name, id, this.held);
  }
}

/** Who does a job that only one process may do at a time, and until when unless it says so again. */
@Entity('job_leases')
export class JobLease {
  @PrimaryColumn({ type: 'text' }) name: string;
  @IdColumn({ name: 'locked_by', nullable: true }) lockedBy: string | null;
  @TimeColumn({ name: 'locked_until' }) lockedUntil: string;
}
