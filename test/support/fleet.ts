import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SubjectDigests } from '@app/crypto';
import { useBuild } from './build';
import { ChildService } from './child-service';
import { newDatabase, type TestDatabase } from './database';
import { digestsOf } from './digests';

const LETHE_MASTER_KEY = Buffer.alloc(32, 'fleet').toString('base64');

/** Any number of processes on one PostgreSQL database, all of which end with the test. */
export class Fleet {
  database: TestDatabase;
  private directory: string;
  private readonly running: ChildService[] = [];

  constructor(private readonly build: { readonly directory: string }) {}

  async open(): Promise<void> {
    this.directory = mkdtempSync(join(tmpdir(), 'lethe-fleet-'));
    this.database = await newDatabase(this.directory);
  }

  async end(): Promise<void> {
    await Promise.all(this.running.splice(0).map((child) => child.end('SIGKILL')));
    await this.database.drop();
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** An api that leaves webhooks and jobs to workers. */
  api(environment: Record<string, string> = {}): Promise<ChildService> {
    return this.start('api', { JOBS: 'off', ...environment });
  }

  worker(environment: Record<string, string> = {}): Promise<ChildService> {
    return this.start('worker', environment);
  }

  /** What the processes store in place of ids, once one of them has started. */
  digests(): Promise<SubjectDigests> {
    return digestsOf(this.database, { LETHE_MASTER_KEY });
  }

  async pending(): Promise<number> {
    const [row] = await this.database.rows<{ n: number }>(
      `SELECT COUNT(*) AS n FROM webhook_deliveries WHERE status = 'pending'`,
    );
    return row?.n ?? 0;
  }

  private start(kind: 'api' | 'worker', environment: Record<string, string>): Promise<ChildService> {
    const settings = {
      DATABASE_URL: this.database.url,
      LETHE_MASTER_KEY,
      // The leases of a worker that is killed end five seconds later.
      WEBHOOK_TIMEOUT_MS: '15000',
      WEBHOOK_CONNECT_TIMEOUT_MS: '15000',
      WEBHOOK_RETRY_SCHEDULE: '1s,1s,1s,1s,1s,1s,1s,1s',
      LOG_LEVEL: 'fatal',
      ...environment,
    };
    const child = new ChildService(this.build.directory, join(this.directory, 'none.db'), settings, kind);
    this.running.push(child);
    return child.start();
  }
}

/** A fleet on a database of its own for the calling `describe`. */
export function useFleet(build = useBuild()): Fleet {
  const fleet = new Fleet(build);
  beforeAll(() => fleet.open());
  afterAll(() => fleet.end());
  return fleet;
}
