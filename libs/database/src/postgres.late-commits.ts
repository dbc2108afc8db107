import type { Pool, PoolClient } from 'pg';
import { abandon, type ConnectionConfig, doubtServerOf, newClient } from './postgres.client';

/** How often the server is asked whether it still waits, in milliseconds. */
const LOOK_MS = 1_000;

const LIMITS = { connectionTimeoutMillis: LOOK_MS, query_timeout: LOOK_MS, application_name: 'lethe-probe' };

/** A commit whose standby is there waits some milliseconds. */
const WAITING = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'SyncRep'
  AND query_start < clock_timestamp() - interval '${LOOK_MS} ms' LIMIT 1`;

/**
 * Connections whose COMMIT was not answered in time. While a synchronous standby is away, the server's process behind such a
 * connection waits, also when the connection is closed, and another connection would take another process. So each stays
 * one of its pool until the COMMIT is answered, or the server has no such wait, or another server is in use.
 */
export class LateCommits {
  private readonly late = new Set<PoolClient>();
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;

  constructor(
    /** To the server itself, for a question. */
    private readonly direct: ConnectionConfig,
    private readonly limitMs: number,
    private readonly pool: Pool,
  ) {}

  /** Whether a further unit that writes would only wait too, and reads need connections outside the pool. */
  get areThere(): boolean {
    return this.late.size > 0;
  }

  /** Resolves to false when `committing` takes too long: it belongs to this object from then on, with its connection. */
  async isInTime(client: PoolClient, committing: Promise<void>): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), this.limitMs);
    });
    try {
      const isInTime = await Promise.race([committing.then(() => true), limit]);
      if (!isInTime) this.keep(client, committing);
      return isInTime;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the connections. Their commits stay under way at the server. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    this.abandonAll();
    await this.looking;
  }

  private keep(client: PoolClient, committing: Promise<void>): void {
    this.late.add(client);
    const release = (isBroken: boolean): void => {
      this.late.delete(client);
      client.release(isBroken);
    };
    committing.then(
      () => release(false),
      () => release(true),
    );
    doubtServerOf(client);
    this.timer ??= setInterval(() => this.tick(), LOOK_MS).unref();
  }

  private tick(): void {
    // A pool ends once all of its connections have come back.
    if (this.pool.ending) this.abandonAll();
    else this.looking ??= this.look();
  }

  private abandonAll(): void {
    for (const client of this.late) abandon(client);
  }

  private async look(): Promise<void> {
    const asked = [...this.late];
    // A server that does not answer now may have such a wait.
    if (asked.length > 0 && !(await this.hasWaits().catch(() => true)))
      for (const client of asked) if (this.late.has(client)) abandon(client);
    this.looking = undefined;
    if (this.late.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private async hasWaits(): Promise<boolean> {
    const client = newClient({ ...this.direct, ...LIMITS });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.query(WAITING)).rows.length > 0;
    } finally {
      client.end().catch(() => undefined);
    }
  }
}
