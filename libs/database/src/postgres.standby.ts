import { setTimeout as pause } from 'node:timers/promises';
import { OwnError } from '@app/kernel';
import { Pool, type PoolClient } from 'pg';
import { type ConnectionConfig, processOf } from './postgres.client';

/** How long a read waits until the standby has what the primary has, in milliseconds. Then the primary reads. */
const WAIT_MS = 100;
const FIRST_PAUSE_MS = 1;
/** How often a process looks whether the standby follows, in milliseconds. */
const LOOK_MS = 1_000;
/** A process whose standby does not follow for longer works worse than configured, in milliseconds. */
const AWAY_MS = 10_000;

/** A place in the log of the primary. */
export interface LogPosition {
  readonly lsn: string;
  readonly timeline: string;
  readonly system: string;
  readonly commits: string;
}

/** Each answered commit is in the flushed part of the log, unless synchronous_commit is off. */
export const POSITION = `SELECT pg_current_wal_flush_lsn()::text AS lsn,
  left(pg_walfile_name(pg_current_wal_flush_lsn()), 8) AS timeline,
  (SELECT system_identifier::text FROM pg_control_system()) AS system, current_setting('synchronous_commit') AS commits`;

/**
 * Of which database a standby is a copy, and on which timeline. Its control file names a new timeline only some time after a
 * failover, and until then the primary reads. A standby that follows a former primary never gets there.
 */
const ORIGIN = {
  text: `SELECT (SELECT system_identifier::text FROM pg_control_system()) AS system,
  (SELECT lpad(upper(to_hex(timeline_id)), 8, '0') FROM pg_control_checkpoint()) AS timeline, pg_backend_pid() AS process`,
  query_timeout: WAIT_MS,
};

interface Origin {
  readonly system: string;
  readonly timeline: string;
  readonly process: number;
}

const REPLAYED = {
  name: 'lethe_replayed',
  text: 'SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= $1::pg_lsn AS reached',
  // A standby that falls silent holds a read no longer than one that is late.
  query_timeout: WAIT_MS,
};

/** Called when the standby is away for long, and when it is back. */
export type OnAway = (isAway: boolean, reason: string) => void;

/**
 * Connections to a standby whose reads are never late: a connection is handed out once the standby has replayed the log up to
 * the place where the primary was after the call. The comparison and the read are on one connection, so on one server.
 */
export class PostgresStandby {
  private readonly pool: Pool;
  private readonly origins = new WeakMap<PoolClient, Origin>();
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;
  private isFollowing = false;
  private reason = '';
  private awaySinceMs = performance.now();
  private isReported = false;
  private onAway: OnAway = () => undefined;

  /** @param position asks the primary for its place, by a statement that begins after the call */
  constructor(
    config: ConnectionConfig,
    size: number | undefined,
    private readonly position: () => Promise<LogPosition>,
  ) {
    this.pool = new Pool({ ...config, max: size });
    this.pool.on('error', (error) => this.miss(error.message));
    // A connection that is lost while it is held reports the loss to its statements.
    this.pool.on('connect', (client) => client.on('error', () => undefined));
  }

  /** Looks at the standby now, and from here on again and again. */
  async start(onAway: OnAway): Promise<void> {
    this.onAway = onAway;
    await this.look();
    this.timer = setInterval(() => void (this.looking ??= this.look()), LOOK_MS).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.looking;
    await this.pool.end();
  }

  /** A connection on which a new snapshot has every commit that was answered before the call, if the standby follows. */
  async caughtUp(): Promise<PoolClient | undefined> {
    // Behind a queue as long as the pool the primary is faster.
    const isBusy = this.pool.waitingCount >= this.pool.options.max;
    return this.isFollowing && !isBusy ? this.connect(() => this.taken()) : undefined;
  }

  /** A read has failed: the primary reads until a look at the standby succeeds. */
  miss(reason: string): void {
    if (this.isFollowing) this.awaySinceMs = performance.now();
    this.isFollowing = false;
    this.reason = reason;
  }

  private async look(): Promise<void> {
    const client = await this.connect(() => this.pool.connect());
    client?.release();
    this.isFollowing = client !== undefined;
    this.looking = undefined;
    const isAway = !this.isFollowing && performance.now() - this.awaySinceMs >= AWAY_MS;
    if (isAway === this.isReported || (!this.isFollowing && !isAway)) return;
    this.isReported = isAway;
    this.onAway(isAway, this.reason);
  }

  /** A connection, if there is one soon. */
  private async taken(): Promise<PoolClient | undefined> {
    const { pool } = this;
    const isOpened = pool.idleCount === 0 && pool.totalCount < pool.options.max;
    const taking = pool.connect();
    const client = await Promise.race([taking, pause(WAIT_MS, undefined, { ref: false })]);
    if (client !== undefined) return client;
    taking.then(
      (late) => late.release(),
      () => undefined,
    );
    if (isOpened) this.miss('it does not answer in time');
    return undefined;
  }

  private async connect(take: () => Promise<PoolClient | undefined>): Promise<PoolClient | undefined> {
    let client: PoolClient | undefined;
    try {
      const position = await this.position();
      client = await take();
      if (client === undefined) return undefined;
      requireCopy(await this.originOf(client), position, processOf(client));
      if (await hasReached(client, position.lsn)) return client;
      client.release();
      this.miss('it is late');
    } catch (error) {
      client?.release(true);
      this.miss((error as Error).message);
    }
    return undefined;
  }

  private async originOf(client: PoolClient): Promise<Origin> {
    const known = this.origins.get(client);
    if (known !== undefined) return known;
    const { rows } = await client.query<Origin>(ORIGIN);
    const [origin] = rows;
    if (origin === undefined) throw new OwnError('it does not say what it is');
    this.origins.set(client, origin);
    return origin;
  }
}

/** @throws Error unless equal places in the two logs mean equal data */
function requireCopy(origin: Origin, position: LogPosition, process: number): void {
  if (position.commits === 'off') throw new OwnError('synchronous_commit is off on the primary');
  if (origin.process !== process) throw new OwnError('a pooler is before it');
  if (origin.system !== position.system) throw new OwnError('it is no copy of the primary');
  if (origin.timeline !== position.timeline)
    throw new OwnError('it is not known to follow the present primary');
}

async function hasReached(client: PoolClient, lsn: string): Promise<boolean> {
  const begunMs = performance.now();
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
    const { rows } = await client.query<{ reached: boolean | null }>({ ...REPLAYED, values: [lsn] });
    if (rows[0]?.reached === true) return true;
    if (performance.now() - begunMs + pauseMs > WAIT_MS) return false;
    await pause(pauseMs);
  }
}
