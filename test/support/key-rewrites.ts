import { KeyRewriteJob } from '@app/gdpr';
import { JobLeases, type Lease, UnitOfWork } from '@app/database';
import { Client } from 'pg';
import type { Bot } from './bot';
import { runNow } from './jobs';
import { type Service, useServiceInProcess } from './service';
import type { SubjectIds } from './snowflakes';
import { until } from './until';

const COUNTED = [
  ...['subject_keys_a', 'subject_keys_b', 'removed_keys', 'erasure_ledger'].map((table) => `keys.${table}`),
  ...['subjects', 'deletion_requests', 'job_leases'],
];

export interface Forgotten {
  readonly request_id: string;
  readonly completed_at: string;
}

/**
 * Runs the job until the key of this erasure is in no file: VACUUM leaves out a page that another backend, such as the checkpointer,
 * has pinned in this moment, and the next run continues.
 */
export function keyIsRewritten(service: Service, requestId: string): Promise<void> {
  const recorded = 'SELECT 1 FROM deletion_requests WHERE id = ? AND unrecoverable_at IS NOT NULL';
  return until(async () => {
    await runNow(service, KeyRewriteJob);
    return (await service.database.rows(recorded, requestId)).length > 0;
  });
}

/** A service on PostgreSQL whose keys are rewritten only when a test says so. */
export class Rewriting {
  bot: Bot;
  private readonly clients: Client[] = [];

  constructor(readonly service: Service) {}

  /** Makes the tables whose rows are counted those of a new database, and the bot a new one. */
  async begin(): Promise<void> {
    const { database } = this.service;
    await database.run(`TRUNCATE ${COUNTED.join(', ')}`);
    await database.run('UPDATE keys.key_rewrite SET number = 0');
    this.bot = await this.service.registerBot();
    await this.bot.hasCategory('profile');
  }

  get<T>(type: abstract new (...args: never[]) => T): T {
    return this.service.app.get(type, { strict: false });
  }

  async lease(): Promise<Lease> {
    const taken = await this.get(UnitOfWork).write((tx) =>
      this.get(JobLeases).take(tx, 'key-rewrite', 'now'),
    );
    if (taken === undefined) throw new Error('another process has the job');
    return taken;
  }

  async rewrite(stopping = new AbortController().signal, job = this.get(KeyRewriteJob)): Promise<void> {
    const taken = await this.lease();
    try {
      await job.run(taken, stopping);
    } finally {
      await this.get(UnitOfWork).write((tx) => taken.end(tx, 0));
    }
  }

  /** As {@link keyIsRewritten}. */
  rewriteFor(requestId: string): Promise<void> {
    return until(async () => {
      await this.rewrite();
      return (await this.unrecoverableAt(requestId)) !== null;
    });
  }

  async stores(who: SubjectIds): Promise<void> {
    await this.bot.hasConsent(who);
    await this.bot.hasData(who, 'profile', { value: 'a value' });
  }

  async forgets(who: SubjectIds): Promise<Forgotten> {
    return (await this.bot.post<Forgotten>('/gdpr/forget-user', who)).data;
  }

  async unrecoverableAt(id: string): Promise<string | null> {
    const { data } = await this.bot.get<{ unrecoverable_at: string | null }>(`/gdpr/forget-status/${id}`);
    return data.unrecoverable_at;
  }

  /** Destroyed keys that may still be in the files. */
  left(): Promise<{ id: string }[]> {
    return this.service.database.rows('SELECT id FROM keys.removed_keys');
  }

  /** A connection beside those of the service and of its test. */
  async connected(): Promise<Client> {
    const client = new Client(this.service.database.url);
    this.clients.push(client);
    await client.connect();
    return client;
  }

  /** Ends what a test has left open: its locks would stop the next one. */
  async end(): Promise<void> {
    await Promise.all(this.clients.splice(0).map((client) => client.end()));
  }
}

/** One service for the calling file, which finds no keys of another test. */
export function useRewriting(): Rewriting {
  const rewriting = new Rewriting(useServiceInProcess({ JOBS: 'off' }));
  beforeEach(() => rewriting.begin());
  afterEach(() => rewriting.end());
  return rewriting;
}
