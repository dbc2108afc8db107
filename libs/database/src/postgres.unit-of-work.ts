import { ApiError, OwnError } from '@app/kernel';
import type { LabelOf, UnitOfWorkSizes } from '@app/metrics';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';
import { databaseUnavailable, driverCode, isCollision } from './database-faults';
import { type Beginnings, DIRECT } from './postgres.beginnings';
import type { ConnectionConfig } from './postgres.client';
import { LateCommits } from './postgres.late-commits';
import { PostgresReader } from './postgres.reader';
import { type LogPosition, POSITION, PostgresStandby } from './postgres.standby';
import { type Form, transaction } from './postgres.transaction';
import { SharedActs } from './shared-acts';
import type { Tx } from './tx';
import { ConcurrentChange, type SharedAct, TRIES_MAX, UnitOfWork } from './unit-of-work';
import { vacuum } from './postgres.vacuum';

/**
 * The maximum pause before the second run, in milliseconds. It grows with each run; the actual pause is random below
 * it.
 */
const RETRY_PAUSE_MS = 20;
/** The number of connections for long reads, and for all reads while commits wait. Further ones wait for a free one. */
const SNAPSHOTS_MAX = 4;
/**
 * A unit that takes longer is ended, in milliseconds. Statements have limits of their own, so such a unit awaits
 * something else.
 */
const UNIT_TIMEOUT_MS = 60_000;

/** Where a unit of work finds its connections, beside those of its source. */
export interface PostgresRoutes {
  readonly beginnings: Beginnings;
  /** To the server itself, for a vacuum. */
  readonly direct: ConnectionConfig;
  readonly standby?: ConnectionConfig;
}

/**
 * UnitOfWork on PostgreSQL: each unit is a transaction on its own connection. Rows that a decision rests on are locked,
 * in the same order everywhere: consent, then deletion request, then data. Units that collide are run again.
 */
export class PostgresUnitOfWork extends UnitOfWork {
  readonly engine = 'postgres';
  private readonly pool: Pool;
  private readonly snapshots: Pool;
  private readonly reader: PostgresReader;
  private readonly acts: SharedActs;
  private readonly late: LateCommits;
  readonly standby: PostgresStandby | undefined;
  private readonly underWay = new Set<Promise<unknown>>();

  constructor(
    private readonly source: DataSource,
    onFault: (error: unknown) => void,
    private readonly routes: PostgresRoutes,
  ) {
    super(onFault);
    this.pool = (source.driver as PostgresDriver).master as Pool;
    const { options } = this.pool;
    this.snapshots = new Pool({ ...options, max: SNAPSHOTS_MAX }).on('error', onFault);
    for (const pool of [this.pool, this.snapshots]) survivesLosses(pool);
    const waitMs = options.connectionTimeoutMillis;
    this.acts = new SharedActs((work, callers) => this.retried(work, callers), waitMs, onFault);
    const limitMs = (options as ConnectionConfig).query_timeout ?? UNIT_TIMEOUT_MS;
    this.late = new LateCommits(routes.direct, limitMs, this.pool);
    this.reader = new PostgresReader(options as ConnectionConfig, routes.beginnings, onFault);
    if (routes.standby !== undefined)
      this.standby = new PostgresStandby(routes.standby, options.max, () => this.position());
  }

  write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.noted(this.retried(work, 1));
  }

  override share<Input, Output>(act: SharedAct<Input, Output>, input: Input): Promise<Output> {
    return this.noted(this.acts.do(act, input));
  }

  read<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.noted(this.readOn(this.forReads, work));
  }

  override readAnywhere<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.noted(this.anywhere(work, () => this.readOn(this.forReads, work)));
  }

  async get<Row>(sql: string, ...values: readonly string[]): Promise<Row | undefined> {
    try {
      return (await this.reader.get(sql, values)) as Row | undefined;
    } catch (error) {
      throw this.answerTo(error);
    }
  }

  snapshot<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.noted(this.anywhere(work, () => this.readOn(this.snapshots, work, Infinity)));
  }

  /** Destroyed keys are removed from the files by a rewrite of their table, later. */
  async scrubKeys(): Promise<void> {
    return undefined;
  }

  vacuum(table: string, stopping: AbortSignal): Promise<string | undefined> {
    return vacuum(this.routes.direct, table, stopping).catch((error: unknown) => {
      throw this.answerTo(error);
    });
  }

  async ping(): Promise<void> {
    await this.get('SELECT 1');
  }

  /** Simultaneous calls share a statement that begins after all of them. */
  private async position(): Promise<LogPosition> {
    const found = await this.get<LogPosition>(POSITION);
    if (found === undefined) throw new OwnError('The primary does not say where it is');
    return found;
  }

  /** Resolves when every accepted unit has ended. */
  async drained(): Promise<void> {
    while (this.underWay.size > 0) await Promise.allSettled(this.underWay);
  }

  /** Closes the connections outside the pool. */
  async close(): Promise<void> {
    await this.late.close();
    await this.reader.close();
    await this.snapshots.end();
    await this.standby?.close();
  }

  private noted<T>(promise: Promise<T>): Promise<T> {
    const end = (): void => void this.underWay.delete(promise);
    promise.then(end, end);
    this.underWay.add(promise);
    return promise;
  }

  protected override sizes(): UnitOfWorkSizes {
    const { pool, acts } = this;
    return {
      unitsWaiting: () => pool.waitingCount + acts.waiting,
      pool: () => ({
        open: pool.totalCount,
        idle: pool.idleCount,
        waiting: pool.waitingCount,
        max: pool.options.max,
      }),
    };
  }

  private async retried<T>(work: (tx: Tx) => Promise<T>, callers: number): Promise<T> {
    for (let tries = 1; ; tries++) {
      if (this.late.areThere) throw databaseUnavailable();
      try {
        const begin = this.routes.beginnings.write;
        const form = { begin, timeoutMs: UNIT_TIMEOUT_MS, late: this.late };
        return await this.unit(this.pool, work, form, callers);
      } catch (error) {
        const again = isCollision(error) || error instanceof ConcurrentChange;
        if (!again) throw this.answerTo(error);
        this.observer.retried(reasonOf(error));
        if (tries === TRIES_MAX) {
          this.onFault(error);
          throw databaseUnavailable();
        }
        await pause(Math.random() * RETRY_PAUSE_MS * tries);
      }
    }
  }

  /** Writes that wait for a synchronous standby can hold the whole pool, and never a connection for long reads. */
  private get forReads(): Pool {
    return this.late.areThere ? this.snapshots : this.pool;
  }

  private async readOn<T>(pool: Pool, work: (tx: Tx) => Promise<T>, timeoutMs = UNIT_TIMEOUT_MS): Promise<T> {
    try {
      return await this.unit(pool, work, { begin: this.routes.beginnings.read, timeoutMs });
    } catch (error) {
      // A unit that writes in a read is a mistake of its code and not a fault of the engine.
      throw driverCode(error) === '25006' ? error : this.answerTo(error);
    }
  }

  private async unit<T>(
    pool: Pool,
    work: (tx: Tx) => Promise<T>,
    given: Omit<Form, 'connected'>,
    callers = 0,
  ): Promise<T> {
    const { isPooled } = this.routes.beginnings;
    const form = { ...given, connected: { isPooled, isOnStandby: false } };
    const done = await transaction(await pool.connect(), this.source, form, work);
    this.afterCommit(callers, done.commitMs, done.callbacks);
    return done.value;
  }

  /** On the standby, or where there is none, or it fails, on the primary. */
  private async anywhere<T>(work: (tx: Tx) => Promise<T>, onPrimary: () => Promise<T>): Promise<T> {
    const client = await this.standby?.caughtUp();
    if (client === undefined) {
      if (this.standby !== undefined) this.observer.readAnywhere('primary');
      return onPrimary();
    }
    const form = { begin: DIRECT.read, timeoutMs: Infinity, connected: ON_STANDBY };
    try {
      const { value } = await transaction(client, this.source, form, work);
      this.observer.readAnywhere('standby');
      return value;
    } catch (error) {
      if (error instanceof ApiError && error.code !== 'service_unavailable') throw error;
      // A conflict with the replay ends one unit, and a fault of the standby none of the primary.
      if (!isCollision(error)) this.standby?.miss(String((error as Error).message));
      this.observer.readAnywhere('primary');
      return onPrimary();
    }
  }
}

const ON_STANDBY = { isPooled: false, isOnStandby: true };

/**
 * Keeps the process alive when a connection is lost: an `error` event without a listener ends the process. A unit on the
 * connection gets the error from its statements. The pool announces a connection before it removes its own listener.
 */
function survivesLosses(pool: Pool): void {
  const ignore = (): void => undefined;
  pool.on('acquire', (client) => client.off('error', ignore).on('error', ignore));
}

function reasonOf(error: unknown): LabelOf<'databaseUnitsRetried'> {
  if (error instanceof ConcurrentChange) return 'concurrent_change';
  return driverCode(error) === '40P01' ? 'deadlock_detected' : 'serialization_failure';
}
