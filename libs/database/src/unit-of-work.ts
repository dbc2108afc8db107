import { type Metrics, NO_METRICS, OwnError } from '@app/kernel';
import { isDamage, translateFault } from './database-faults';
import type { Engine, Tx } from './tx';

/**
 * Work that one transaction can do for several callers. It returns one outcome for each, in their order. An undefined outcome
 * means that nothing was written for this caller: the work is then done for it again, alone. An error undoes the work for all
 * callers, and it is done for each alone. A single caller always gets an outcome. On PostgreSQL simultaneous callers share a
 * transaction, on SQLite the inputs of one call.
 */
export type SharedWork<Input, Output> = (
  tx: Tx,
  inputs: readonly Input[],
) => Promise<readonly (Output | undefined)[]>;

/** The only way to the database. A unit awaits only its own statements. */
export abstract class UnitOfWork {
  abstract readonly engine: Engine;
  /**
   * A unit that takes longer, in milliseconds, is ended. Statements have limits of their own, so such a unit awaits something
   * else.
   */
  unitMaxMs = 60_000;
  protected metrics = NO_METRICS;

  /** @param onFault gets the faults that no caller gets as an answer, and damage of the database */
  constructor(protected readonly onFault: (error: unknown) => void = () => undefined) {}

  /** Registers commits, retries and the queue with the metrics. */
  observedBy(metrics: Metrics): this {
    this.metrics = metrics;
    return this;
  }

  /** The answer to an error inside a unit. Damage concerns more than the unit, so it is reported too. */
  protected answerTo(error: unknown): unknown {
    if (isDamage(error)) this.onFault(error);
    return translateFault(error);
  }

  /** Reports a durable commit and runs the callbacks of its units. No error of them refuses a unit. */
  protected afterCommit(units: number, commitMs: number, callbacks: readonly (() => void)[]): void {
    const observe = (): void => {
      this.metrics.observe('databaseCommitUnits', units);
      this.metrics.observe('databaseCommitDuration', commitMs / 1000);
    };
    for (const callback of units > 0 ? [observe, ...callbacks] : callbacks) {
      try {
        callback();
      } catch (error) {
        this.onFault(error);
      }
    }
  }

  /**
   * Runs `work` in one transaction. Resolves when the transaction is committed and durable; rejects when all of it is
   * undone. A unit that collides with another one (a {@link ConcurrentChange} that `work` throws, on PostgreSQL
   * also 40001 and 40P01) is run again from its beginning.
   * @throws ApiError 503 `service_unavailable` when the database cannot commit now, or the error of `work`.
   */
  abstract write<T>(work: (tx: Tx) => Promise<T>): Promise<T>;

  /**
   * {@link write} for an act that destroys keys, in two parts of one transaction. `then` runs once the keys are destroyed
   * durably and their remains are removed from the engine's own files. If they cannot be removed now, `isScrubbed` is false,
   * and {@link scrubKeys} has to follow.
   *
   * On SQLite `then` may run twice: if it fails, it runs once more with `isScrubbed` false, since the data has to say that the
   * keys are destroyed. What the second run has written is kept, and the caller gets the error of the first.
   */
  destroyKeys<Destroyed, T>(
    destroy: (tx: Tx) => Promise<Destroyed>,
    then: (tx: Tx, destroyed: Destroyed, isScrubbed: boolean) => Promise<T>,
  ): Promise<T> {
    return this.write(async (tx) => then(tx, await destroy(tx), true));
  }

  /** {@link write} for work that can share a transaction with other calls of the same function. */
  share<Input, Output>(work: SharedWork<Input, Output>, input: Input): Promise<Output> {
    return this.write(alone(work, input));
  }

  /**
   * {@link share} for several inputs of one caller: one outcome for each, in their order, once all are committed or
   * refused. The inputs take effect in no certain order.
   */
  shareAll<Input, Output>(
    work: SharedWork<Input, Output>,
    inputs: readonly Input[],
  ): Promise<PromiseSettledResult<Output>[]> {
    return Promise.allSettled(inputs.map((input) => this.share(work, input)));
  }

  /** Runs `work` on one consistent snapshot of the commits before the call. `work` cannot write. */
  abstract read<T>(work: (tx: Tx) => Promise<T>): Promise<T>;

  /**
   * {@link read} for a single statement with text parameters. Resolves to its first row, or undefined. It is the
   * cheapest way to the database.
   */
  abstract get<Row>(sql: string, ...values: readonly string[]): Promise<Row | undefined>;

  /**
   * {@link read} for long work, such as a portion of an export. It blocks no other unit. It never awaits a reader of its
   * results.
   */
  abstract snapshot<T>(work: (tx: Tx) => Promise<T>): Promise<T>;

  /**
   * Removes the remains of destroyed keys from the engine's own files. When it resolves, no key that was destroyed before
   * the call is left there, as far as the engine can remove it.
   * @throws ApiError 503 `service_unavailable` when that cannot be done now.
   */
  abstract scrubKeys(): Promise<void>;

  /**
   * {@link scrubKeys} for what was deleted or overwritten in the tables of the data in the clear. Only SQLite can remove
   * it, and every writer waits for it meanwhile.
   */
  scrubRows(): Promise<void> {
    return Promise.resolve();
  }

  /**
   * Removes the rows of a table that no snapshot needs any more. It runs beside other units, without a time limit, until
   * `stopping` is aborted. Returns a warning of the server. Only PostgreSQL needs it.
   * @throws ApiError 503 `service_unavailable` when that cannot be done now.
   */
  abstract vacuum(table: string, stopping: AbortSignal): Promise<string | undefined>;

  /** For the readiness probe. @throws Error when the database does not answer */
  abstract ping(): Promise<void>;
}

/** Shared work of a single caller. */
export function alone<Input, Output>(
  work: SharedWork<Input, Output>,
  input: Input,
): (tx: Tx) => Promise<Output> {
  return async (tx) => (await work(tx, [input]))[0] as Output;
}

/** How often a unit that collides is run. */
export const TRIES_MAX = 6;

/** Another unit was faster. The unit is undone and run again. */
export class ConcurrentChange extends OwnError {
  constructor() {
    super('Another unit of work has changed what this one was about to create');
  }
}
