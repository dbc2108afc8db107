import { KeyRewriteJob } from '@app/gdpr';
import { JobLeases, type Lease, UnitOfWork } from '@app/database';
import { Client } from 'pg';
import type { Bot } from './bot';
import { Service } from './service';
import type { SubjectIds } from './snowflakes';

export interface Forgotten {
  readonly request_id: string;
  readonly completed_at: string;
}

/** A service on PostgreSQL whose keys are rewritten only when a test says so. */
export class Rewriting {
  private constructor(
    readonly service: Service,
    readonly bot: Bot,
  ) {}

  static async start(): Promise<Rewriting> {
    const service = await new Service({ JOBS: 'off' }).start();
    const bot = await service.registerBot();
    await bot.hasCategory('profile');
    return new Rewriting(service, bot);
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
    await client.connect();
    return client;
  }
}
