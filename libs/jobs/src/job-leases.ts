import { Injectable } from '@nestjs/common';
import { type Tx, UnitOfWork } from '@app/database';
import { Clock, Random, OwnError } from '@app/kernel';

/** How long a lease holds that nobody renews: so soon the job of a dead process is taken over. */
export const LEASE_MS = 20_000;

/** Another process has taken the job over; nothing of the batch remains. */
export class LeaseLost extends OwnError {
  constructor(name: string) {
    super(`The job ${name} was taken over by another process`);
  }
}

/** The right to do one job, until it ends or somebody else has it. */
export class Lease {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    readonly name: string,
    private readonly id: string,
  ) {}

  /**
   * Runs a batch of the job in one unit that holds the lease until its commit: no two processes are ever in a batch of
   * one job at once, also not after a long pause of one of them.
   * @throws LeaseLost when another process has taken over.
   */
  batch<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.unitOfWork.write(async (tx) => {
      await this.set(tx, this.id, LEASE_MS);
      return work(tx);
    });
  }

  /** Renews the lease while `work` goes on in units of its own, which must bear to be done twice. */
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

  /** The job is done, and due again after `pauseMs`; without a pause that is known it is forgotten. */
  async end(tx: Tx, pauseMs?: number): Promise<void> {
    if (pauseMs !== undefined) await this.set(tx, null, pauseMs);
    else await tx.run('DELETE FROM job_leases WHERE name = ? AND locked_by = ?', this.name, this.id);
  }

  private async set(tx: Tx, holder: string | null, forMs: number): Promise<void> {
    const until = new Date(this.clock.nowMs() + forMs).toISOString();
    const held = await tx.run(
      'UPDATE job_leases SET locked_by = ?, locked_until = ? WHERE name = ? AND locked_by = ?',
      ...[holder, until, this.name, this.id],
    );
    if (held === 0) throw new LeaseLost(this.name);
  }
}

/**
 * Hands out each job to one process at a time. A row says who has it and until when; without a holder, when it is due
 * again.
 */
@Injectable()
export class JobLeases {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /** Undefined while another process has the job, or it is not due; `now` takes it also before it is due. */
  async take(tx: Tx, name: string, when: 'due' | 'now' = 'due'): Promise<Lease | undefined> {
    const nowMs = this.clock.nowMs();
    const until = new Date(nowMs + LEASE_MS).toISOString();
    const id = this.random.uuid();
    const found = await tx.get<{ locked_by: string | null; locked_until: string }>(
      'SELECT locked_by, locked_until FROM job_leases WHERE name = ? FOR UPDATE SKIP LOCKED',
      name,
    );
    if (found !== undefined) {
      const waits = found.locked_until > new Date(nowMs).toISOString();
      // Whoever has left a lease in a SQLite file is dead: the file has one process.
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
    return taken === 1 ? new Lease(this.unitOfWork, this.clock, name, id) : undefined;
  }
}
