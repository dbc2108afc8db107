import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { UnitOfWorkSizes } from '@app/metrics';
import { databaseUnavailable, driverCode } from './database-faults';
import type { SqliteKeys } from './sqlite.keys';
import { type SqliteReaders, SqliteReads } from './sqlite.reads';
import { SqliteTransaction } from './sqlite.transaction';
import { type SqliteConnection, SqliteTx } from './sqlite.tx';
import type { Tx } from './tx';
import { withinTimeout } from './unit-timeout';

/** The maximum of units in one COMMIT. It bounds how long the first unit of a group waits for its answer. */
const GROUP_MAX = 256;
/** A group that has run for longer, in milliseconds, takes no further unit, so that other requests have their turn. */
const GROUP_TURN_MS = 20;
/**
 * A unit that takes longer is ended, in milliseconds: it awaits something else than its statements and would block
 * every writer.
 */
const UNIT_TIMEOUT_MS = 5_000;
/**
 * The pauses, in milliseconds, before a locked file is tried again, outside the event loop. After the last one the
 * units get 503.
 */
const BUSY_RETRIES_MS = [5, 10, 20, 50, 100, 200, 400];

/** The pause, in milliseconds, before a truncation that a reader of the keys prevented is tried again in an idle service. */
const TRUNCATION_PAUSE_MS = 20;

interface Unit {
  readonly work: (tx: Tx) => Promise<unknown>;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

interface Ended {
  readonly unit: Unit;
  readonly outcome: { value: unknown } | { error: unknown };
  readonly callbacks: readonly (() => void)[];
}

/**
 * UnitOfWork on SQLite. Write units run strictly one after the other, and waiting units share a transaction (group
 * commit). Each has its own SAVEPOINT, and a failing unit rolls back alone. All answers, refusals included, are sent
 * after the COMMIT has reached the disk. Reads use separate read-only connections.
 */
export class SqliteUnitOfWork extends SqliteReads {
  private readonly waiting: Unit[] = [];
  private draining: Promise<void> | undefined;
  private readonly transaction: SqliteTransaction;

  constructor(
    private readonly writer: SqliteConnection,
    private readonly keys: SqliteKeys,
    readers: SqliteReaders,
    onFault: (error: unknown) => void,
  ) {
    super(readers, onFault);
    this.transaction = new SqliteTransaction(writer, keys, onFault);
  }

  override async ping(): Promise<void> {
    this.requireInPlace();
    await super.ping();
  }

  /** A further connection opens the file by its name, under which another one may be. */
  override async snapshot<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    this.requireInPlace();
    return super.snapshot(work);
  }

  private requireInPlace(): void {
    try {
      this.transaction.requireInPlace();
    } catch (error) {
      this.onFault(error);
      throw databaseUnavailable();
    }
  }

  write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.waiting.push({ work, resolve, reject });
      this.draining ??= this.drain();
    });
  }

  override async drained(): Promise<void> {
    await Promise.all([this.draining, super.drained()]);
  }

  async scrubKeys(): Promise<void> {
    const truncated = this.keys.requestTruncation();
    this.draining ??= this.drain();
    if (!(await truncated)) throw databaseUnavailable();
  }

  override async close(): Promise<void> {
    await super.close();
    this.keys.database.close();
  }

  protected override sizes(): UnitOfWorkSizes {
    return { unitsWaiting: () => this.waiting.length };
  }

  private async drain(): Promise<void> {
    // The rest of this turn of the event loop joins the first group.
    await nextTurn();
    for (;;) {
      if (this.waiting.length > 0) await this.runNextGroup();
      if (this.keys.isTruncationDue) await this.truncateKeys();
      await nextTurn();
      if (this.waiting.length === 0 && !this.keys.isTruncationDue) break;
    }
    this.draining = undefined;
  }

  private async truncateKeys(): Promise<void> {
    this.endTurn();
    if (!this.keys.truncate() && this.waiting.length === 0) await pause(TRUNCATION_PAUSE_MS);
  }

  /** Never throws: every accepted unit gets an answer, and the next group can begin. */
  private async runNextGroup(): Promise<void> {
    const taken: Unit[] = [];
    try {
      if (await this.begin()) settle(this.commit(await this.runGroup(taken)));
    } catch (error) {
      this.onFault(error);
      const refusal = this.transaction.abandon();
      for (const unit of taken) unit.reject(refusal);
    }
  }

  /** Opens the transaction of the group. If the file stays locked, every waiting unit is refused. */
  private async begin(): Promise<boolean> {
    for (const waitMs of [...BUSY_RETRIES_MS, undefined]) {
      try {
        this.transaction.begin();
        return true;
      } catch (error) {
        if (waitMs === undefined || !driverCode(error).startsWith('SQLITE_BUSY')) {
          this.onFault(error);
          for (const unit of this.waiting.splice(0)) unit.reject(this.answerTo(error));
          return false;
        }
        await pause(waitMs);
      }
    }
    return false;
  }

  private async runGroup(taken: Unit[]): Promise<Ended[]> {
    const ended: Ended[] = [];
    const begunMs = performance.now();
    for (let unit = this.waiting.shift(); unit !== undefined; unit = this.waiting.shift()) {
      taken.push(unit);
      ended.push(await this.runUnit(unit));
      // Some errors, such as a full disk, end the whole transaction. Nothing of the group is then left to commit.
      if (ended.length >= GROUP_MAX || !this.transaction.isWhole) break;
      if (performance.now() - begunMs > GROUP_TURN_MS) break;
    }
    return ended;
  }

  private async runUnit(unit: Unit): Promise<Ended> {
    const tx = new SqliteTx(this.writer, this.keys);
    try {
      this.transaction.beginUnit();
      const value = await withinTimeout(unit.work(tx), UNIT_TIMEOUT_MS);
      const callbacks = tx.close();
      this.transaction.keepUnit();
      return { unit, outcome: { value }, callbacks };
    } catch (error) {
      tx.close();
      this.transaction.undoUnit();
      return { unit, outcome: { error: this.answerTo(error) }, callbacks: [] };
    }
  }

  /** Makes the group durable. If that fails, all of it is undone and every unit gets the error, refused ones too. */
  private commit(group: Ended[]): Ended[] {
    const committingMs = performance.now();
    try {
      this.transaction.commit();
    } catch (error) {
      this.onFault(error);
      const refusal = this.transaction.abandon();
      return group.map(({ unit }) => ({ unit, outcome: { error: refusal }, callbacks: [] }));
    }
    const commitMs = performance.now() - committingMs;
    this.endTurn();
    const callbacks = group.flatMap((ended) => ended.callbacks);
    this.afterCommit(group.length, commitMs, callbacks);
    return group;
  }
}

function settle(group: readonly Ended[]): void {
  for (const { unit, outcome } of group) {
    if ('error' in outcome) unit.reject(outcome.error);
    else unit.resolve(outcome.value as never);
  }
}
