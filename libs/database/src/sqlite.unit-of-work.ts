import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { Metrics } from '@app/kernel';
import { asPartlyDone, databaseUnavailable, driverCode } from './database-faults';
import { Ballast } from './sqlite.ballast';
import { SqliteCheckpoints, type SqliteTruncation, TRUNCATION_PAUSE_MS } from './sqlite.checkpoints';
import { type SqliteConnection, type SqliteKeys, SqliteTx } from './sqlite.tx';
import { type SqliteReaders, SqliteReads } from './sqlite.reads';
import { type Ended, settle, SqliteTransaction, type Unit } from './sqlite.transaction';
import { SharedCalls } from './shared-calls';
import { type Tx, withinTimeout } from './tx';
import { ConcurrentChange, type SharedWork, TRIES_MAX } from './unit-of-work';

/** The maximum of units in one COMMIT. It bounds how long the first unit of a group waits for its answer. */
const GROUP_MAX = 256;
/** A group that has run for longer, in milliseconds, takes no further unit, so that other requests have their turn. */
const GROUP_TURN_MS = 20;
/**
 * The turns of the event loop between two groups. Node.js accepts one connection in each turn: with one turn the last of 64
 * new connections would wait for 64 groups.
 */
const TURNS_BETWEEN = 8;
/** The pauses before a locked file is tried again, in milliseconds. After the last one the units get 503. */
const BUSY_RETRIES_MS = [5, 10, 20, 50, 100, 200, 400];

/**
 * UnitOfWork on SQLite. Write units run strictly one after the other, and waiting units share a transaction (group
 * commit). Each has its own SAVEPOINT, and a failing unit rolls back alone. All answers, refusals included, are sent
 * after the COMMIT has reached the disk. Reads use separate read-only connections.
 */
export class SqliteUnitOfWork extends SqliteReads {
  /** All writers wait for it. */
  override unitMaxMs = 5_000;
  private readonly waiting: Unit[] = [];
  private draining: Promise<void> | undefined;
  private readonly transaction: SqliteTransaction;
  private readonly checkpoints: SqliteCheckpoints;

  constructor(
    private readonly writer: SqliteConnection,
    private readonly keys: SqliteKeys,
    readers: SqliteReaders,
    onFault: (error: unknown) => void,
    private readonly ballast = new Ballast([], 0),
  ) {
    super(readers, onFault);
    this.transaction = new SqliteTransaction(writer, keys, onFault);
    this.checkpoints = new SqliteCheckpoints(writer, onFault);
  }

  override async ping(): Promise<void> {
    this.require((files) => files.requireInPlace());
    this.require((files) => files.requireWritable());
    await super.ping();
  }

  /** A further connection opens the file by its name, under which another one may be. */
  override async snapshot<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    this.require((files) => files.requireInPlace());
    return super.snapshot(work);
  }

  private require(look: (files: SqliteTransaction['files']) => void): void {
    try {
      look(this.transaction.files);
    } catch (error) {
      this.onFault(error);
      throw databaseUnavailable();
    }
  }

  write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.queued<T>({ work });
  }

  override destroyKeys<Destroyed, T>(
    work: (tx: Tx) => Promise<Destroyed>,
    then: (tx: Tx, destroyed: Destroyed, isScrubbed: boolean) => Promise<T>,
  ): Promise<T> {
    return this.queued<T>({ work, then });
  }

  private queued<T>(unit: Pick<Unit, 'work' | 'then'>): Promise<T> {
    const waits = (resolve: (value: T) => void, reject: (error: unknown) => void): void => {
      this.waiting.push({ ...unit, resolve, reject });
      this.draining ??= this.drain();
    };
    return this.ballast.relieve(() => new Promise<T>(waits));
  }

  /** One unit for all inputs of the call in place of one for each. */
  override shareAll<Input, Output>(
    work: SharedWork<Input, Output>,
    inputs: readonly Input[],
  ): Promise<PromiseSettledResult<Output>[]> {
    const calls = new SharedCalls((unit) => this.write(unit), undefined, this.onFault);
    return Promise.allSettled(inputs.map((input) => calls.do(work, input)));
  }

  override async drained(): Promise<void> {
    await Promise.all([this.draining, super.drained()]);
  }

  scrubKeys(): Promise<void> {
    return this.scrub(this.keys.truncation);
  }

  override scrubRows(): Promise<void> {
    return this.scrub(this.checkpoints.truncation);
  }

  private scrub(log: SqliteTruncation): Promise<void> {
    return this.ballast.relieve(() => {
      const done = log.request();
      this.draining ??= this.drain();
      return done;
    });
  }

  override async close(): Promise<void> {
    await this.drained();
    await this.checkpoints.end();
    await super.close();
    this.keys.database.close();
  }

  override observedBy(metrics: Metrics): this {
    metrics.gauge('databaseUnitsWaiting', () => this.waiting.length);
    return super.observedBy(metrics);
  }

  private async drain(): Promise<void> {
    // The rest of this turn of the event loop joins the first group.
    await nextTurn();
    const logs = [this.keys.truncation, this.checkpoints.truncation];
    for (;;) {
      if (this.waiting.length > 0) await this.runNextGroup();
      if (this.checkpoints.areOverdue) await this.checkpoints.caughtUp();
      for (const log of logs.filter(({ isDue }) => isDue)) {
        this.endTurn();
        if (!log.attempt() && this.waiting.length === 0) await pause(TRUNCATION_PAUSE_MS);
      }
      for (let turn = 0; turn < TURNS_BETWEEN; turn++) await nextTurn();
      if (this.waiting.length === 0 && !logs.some(({ isDue }) => isDue)) break;
    }
    this.draining = undefined;
  }

  /**
   * Never throws: every accepted unit gets an answer, and the next group can begin. If a group cannot be made durable, all
   * of it is undone and every unit gets the error, refused ones too.
   */
  private async runNextGroup(): Promise<void> {
    const taken: Unit[] = [];
    try {
      if (await this.begin()) settle(this.commit(await this.destroyed(await this.runGroup(taken))));
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
      // The keys that it has destroyed are committed before its second part.
      if (unit.then !== undefined) break;
      // Some errors, such as a full disk, end the whole transaction. Nothing of the group is then left to commit.
      if (ended.length >= GROUP_MAX || !this.transaction.isWhole) break;
      if (performance.now() - begunMs > GROUP_TURN_MS) break;
    }
    return ended;
  }

  /** Commits the keys that the last unit of a group has destroyed, and runs the second part of this unit. */
  private async destroyed(group: Ended[]): Promise<Ended[]> {
    const last = group.at(-1);
    const then = last?.unit.then;
    if (last === undefined || then === undefined || 'error' in last.outcome) return group;
    const { unit, outcome, callbacks } = last;
    const runSecondPart = (isScrubbed: boolean): Promise<Ended> =>
      this.runUnit({ ...unit, work: (tx) => then(tx, outcome.value as never, isScrubbed) });
    this.transaction.commitKeys();
    this.endTurn();
    const first = await runSecondPart(this.keys.truncation.now());
    // The keys are destroyed, and the data has to say so, even if the second part has failed.
    const kept = 'error' in first.outcome ? await runSecondPart(false) : first;
    // The data cannot say so: it stays as it was before the group.
    if ('error' in kept.outcome) throw kept.outcome.error;
    const answer = 'error' in first.outcome ? { error: asPartlyDone(first.outcome.error) } : first.outcome;
    const whole = { unit, outcome: answer, callbacks: [...callbacks, ...kept.callbacks] };
    return [...group.slice(0, -1), whole];
  }

  private async runUnit(unit: Unit, tries = 1): Promise<Ended> {
    const tx = new SqliteTx(this.writer, this.keys);
    try {
      this.transaction.beginUnit();
      const value = await withinTimeout(unit.work(tx), this.unitMaxMs);
      const callbacks = tx.close();
      this.transaction.keepUnit();
      return { unit, outcome: { value }, callbacks };
    } catch (error) {
      tx.close();
      this.transaction.undoUnit();
      if (!(error instanceof ConcurrentChange))
        return { unit, outcome: { error: this.answerTo(error) }, callbacks: [] };
      this.metrics.count('databaseUnitsRetried', 'concurrent_change');
      if (tries < TRIES_MAX) return this.runUnit(unit, tries + 1);
      this.onFault(error);
      return { unit, outcome: { error: databaseUnavailable() }, callbacks: [] };
    }
  }

  /** Makes the group durable. @throws Error when that fails */
  private commit(group: Ended[]): Ended[] {
    const committingMs = performance.now();
    this.transaction.commit();
    const commitMs = performance.now() - committingMs;
    this.endTurn();
    this.checkpoints.noteCommit(group.length);
    const callbacks = group.flatMap((ended) => ended.callbacks);
    this.afterCommit(group.length, commitMs, callbacks);
    return group;
  }
}
