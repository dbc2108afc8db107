import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, type LabelOf, type Metrics } from '@app/kernel';
import { type ClientConfig, Pool } from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';
import { databaseUnavailable, driverCode, isCollision, outcomeUnknown } from './database-faults';
import { readingOnly } from './database.engine';
import { PostgresReader, PostgresTx } from './postgres.tx';
import { SharedCalls } from './shared-calls';
import { type Tx, withinTimeout } from './tx';
import { alone, ConcurrentChange, type SharedWork, TRIES_MAX, UnitOfWork } from './unit-of-work';
import { type Pooled, requirePrimary, vacuum } from './postgres.options';
import { commit, rolledBack, survivesLosses } from './postgres.transaction';

/**
 * The maximum pause before the second run, in milliseconds. It grows with each run; the actual pause is random below
 * it.
 */
const RETRY_PAUSE_MS = 20;
/** The number of connections for long reads. Further ones wait for a free one. */
const SNAPSHOTS_MAX = 4;
/** What a unit may take beside its longest statement, in milliseconds. */
const OTHERS_MS = 30_000;
/** SQLSTATE of a statement in a failed transaction. */
const ABORTED = '25P02';
/** SQLSTATE of a write that the server, or the transaction, does not allow. */
const READ_ONLY = '25006';

const WRITE = 'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE';
const READ = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/**
 * UnitOfWork on PostgreSQL: each unit is a transaction on its own connection. Rows that a decision rests on are locked,
 * in the same order everywhere: consent, then deletion request, then data. Units that collide are run again.
 */
export class PostgresUnitOfWork extends UnitOfWork {
  readonly engine = 'postgres';
  private readonly pool: Pool;
  private readonly snapshots: Pool;
  private readonly reader: PostgresReader;
  private readonly calls: SharedCalls;
  private readonly underWay = new Set<Promise<unknown>>();
  /** The connections of the pool that units hold. */
  private held = 0;
  /** What the BEGIN of a unit is sent with, through a pooler. */
  private readonly unitSettings: string | undefined;

  /** @param direct a connection to the server itself, beside a pooler: for single reads, which are also made inside of units */
  constructor(
    private readonly source: DataSource,
    private readonly direct: ClientConfig,
    onFault: (error: unknown) => void,
  ) {
    super(onFault);
    this.pool = (source.driver as PostgresDriver).master as Pool;
    const { options } = this.pool;
    this.unitSettings = (options as Pooled).unitSettings;
    this.snapshots = new Pool({ ...options, max: SNAPSHOTS_MAX }).on('error', onFault);
    for (const pool of [this.pool, this.snapshots]) survivesLosses(pool);
    // The longest statement that is allowed, and time for the others of its unit.
    this.unitMaxMs = Math.max(this.unitMaxMs, Number(options.query_timeout ?? 0) + OTHERS_MS);
    const waitMs = options.connectionTimeoutMillis;
    this.calls = new SharedCalls((work, callers) => this.retried(work, callers), waitMs, onFault);
    this.reader = new PostgresReader(direct, onFault);
  }

  write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.noted(this.retried(work, 1));
  }

  override share<Input, Output>(work: SharedWork<Input, Output>, input: Input): Promise<Output> {
    return this.noted(this.calls.do(work, input));
  }

  read<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.noted(this.readOn(this.pool, work));
  }

  async get<Row>(sql: string, ...values: readonly string[]): Promise<Row | undefined> {
    try {
      return (await this.reader.get(sql, values)) as Row | undefined;
    } catch (error) {
      throw this.answerTo(error);
    }
  }

  snapshot<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.noted(this.readOn(this.snapshots, work, Infinity));
  }

  /** Destroyed keys are removed from the files by a rewrite of their table, later. */
  async scrubKeys(): Promise<void> {
    return undefined;
  }

  vacuum(table: string, stopping: AbortSignal): Promise<string | undefined> {
    return vacuum(this.direct, table, stopping).catch((error: unknown) => {
      throw this.answerTo(error);
    });
  }

  /**
   * Asks on both ways to the server if there is a pooler, or no unit has a connection: it may be that none can be opened. Where units wait
   * for connections that are being opened, it would wait behind them.
   */
  async ping(): Promise<void> {
    await this.get('SELECT 1');
    const { idleCount, waitingCount } = this.pool;
    if (this.isPooled || this.held + idleCount + waitingCount === 0)
      await this.read((tx) => tx.get('SELECT 1'));
  }

  /** Resolves when every accepted unit has ended. */
  async drained(): Promise<void> {
    while (this.underWay.size > 0) await Promise.allSettled(this.underWay);
  }

  /** Closes the connections outside the pool, once every accepted unit has ended. */
  async close(): Promise<void> {
    await this.drained();
    await this.reader.close();
    await this.snapshots.end();
  }

  private noted<T>(promise: Promise<T>): Promise<T> {
    const end = (): void => void this.underWay.delete(promise);
    promise.then(end, end);
    this.underWay.add(promise);
    return promise;
  }

  override observedBy(metrics: Metrics): this {
    const { pool, calls } = this;
    metrics.gauge('databaseUnitsWaiting', () => pool.waitingCount + calls.waiting);
    metrics.gauge('databasePoolConnections', () => pool.totalCount);
    metrics.gauge('databasePoolMax', () => pool.options.max);
    metrics.gauge('databasePoolIdle', () => pool.idleCount);
    metrics.gauge('databasePoolWaiting', () => pool.waitingCount);
    return super.observedBy(metrics);
  }

  private async retried<T>(work: (tx: Tx) => Promise<T>, callers: number): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.unit(this.pool, WRITE, work, this.unitMaxMs, callers);
      } catch (error) {
        const again = isCollision(error) || error instanceof ConcurrentChange;
        if (!again) throw this.answerTo(error);
        this.metrics.count('databaseUnitsRetried', reasonOf(error));
        if (tries === TRIES_MAX) {
          this.onFault(error);
          throw databaseUnavailable();
        }
        await pause(Math.random() * RETRY_PAUSE_MS * tries);
      }
    }
  }

  private async readOn<T>(pool: Pool, work: (tx: Tx) => Promise<T>, timeoutMs = this.unitMaxMs): Promise<T> {
    try {
      return await this.unit(pool, READ, work, timeoutMs);
    } catch (error) {
      // A unit that writes in a read is a mistake of its code and not a fault of the engine.
      throw driverCode(error) === READ_ONLY ? error : this.answerTo(error);
    }
  }

  private get isPooled(): boolean {
    return this.unitSettings !== undefined;
  }

  private async unit<T>(
    pool: Pool,
    begin: string,
    work: (tx: Tx) => Promise<T>,
    timeoutMs: number,
    callers = 0,
  ): Promise<T> {
    const client = await pool.connect();
    const held = Number(pool === this.pool);
    this.held += held;
    let broken = true;
    try {
      // The server behind a pooler may be another one for each unit.
      const beginning = this.isPooled
        ? requirePrimary(client, `${begin}; ${this.unitSettings}; `)
        : client.query(begin);
      const begun = beginning.catch((error: unknown): never => {
        // No statement follows that could have the reason, for example that the pooler had no session in time.
        if (error instanceof ApiError) throw error;
        if (this.isPooled) this.onFault(error);
        throw databaseUnavailable();
      });
      begun.catch(() => undefined);
      // The session of a pooler would take a statement sent after a failed BEGIN for a transaction.
      if (this.isPooled) await begun;
      const tx = new PostgresTx(client, this.source, this.isPooled);
      let value: T;
      try {
        value = await withinTimeout(work(tx), timeoutMs);
        await begun;
      } catch (error) {
        tx.close();
        // If several statements are sent together, the ones after the failed one fail too, and their errors can arrive
        // first.
        const fault: unknown = driverCode(error) === ABORTED ? (tx.firstFault ?? error) : error;
        // The address may lead to another server by now than the one that refuses to be written to.
        broken = !(await rolledBack(client, error)) || driverCode(fault) === READ_ONLY;
        throw fault;
      }
      const callbacks = tx.close();
      const committingMs = performance.now();
      const isDurable = await commit(client);
      broken = false;
      this.afterCommit(callers, performance.now() - committingMs, callbacks);
      if (!isDurable) throw outcomeUnknown();
      return value;
    } finally {
      this.held -= held;
      client.release(broken);
    }
  }
}

/** UnitOfWork of a process that only reads. A unit that writes is refused, and so is one that locks rows. */
export class PostgresReading extends PostgresUnitOfWork {
  /** @throws StartError for a unit that writes. The service creates missing rows when it starts. */
  override async write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      return await this.read(work);
    } catch (error) {
      throw driverCode(error) === READ_ONLY ? readingOnly() : error;
    }
  }

  override share<Input, Output>(work: SharedWork<Input, Output>, input: Input): Promise<Output> {
    return this.write(alone(work, input));
  }
}

function reasonOf(error: unknown): LabelOf<'databaseUnitsRetried'> {
  if (error instanceof ConcurrentChange) return 'concurrent_change';
  return driverCode(error) === '40P01' ? 'deadlock_detected' : 'serialization_failure';
}
