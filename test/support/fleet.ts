import type { SubjectDigests } from '@app/crypto';
import { type Build, useBuild } from './build';
import type { ChildService } from './child-service';
import { digestsOf } from './digests';
import { Installation, lasting } from './installation';

type Settings = Readonly<Record<string, string>>;

/** Any number of processes on one PostgreSQL database, all of which end with the test. */
export class Fleet extends Installation {
  constructor(build: Build) {
    const settings = {
      LETHE_MASTER_KEY: Buffer.alloc(32, 'fleet').toString('base64'),
      // The leases of a worker that is killed end five seconds later.
      WEBHOOK_TIMEOUT_MS: '15000',
      WEBHOOK_CONNECT_TIMEOUT_MS: '15000',
      WEBHOOK_RETRY_SCHEDULE: '1s,1s,1s,1s,1s,1s,1s,1s',
      LOG_LEVEL: 'fatal',
    };
    super({ build, settings });
  }

  /** An api that leaves webhooks and jobs to workers. */
  api(settings?: Settings): Promise<ChildService> {
    return this.child({ JOBS: 'off', ...settings }).start();
  }

  worker(settings?: Settings): Promise<ChildService> {
    return this.child(settings, 'ignore', 'worker').start();
  }

  /** What the processes store in place of ids, once one of them has started. */
  digests(): Promise<SubjectDigests> {
    return digestsOf(this.database, this.environment);
  }

  async pending(): Promise<number> {
    const [row] = await this.database.rows<{ n: number }>(
      `SELECT COUNT(*) AS n FROM webhook_deliveries WHERE status = 'pending'`,
    );
    return row?.n ?? 0;
  }
}

/** A fleet on a database of its own for the calling `describe`. */
export const useFleet = (build = useBuild()): Fleet => lasting(new Fleet(build));
