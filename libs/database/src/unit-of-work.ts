import { OwnError } from '@app/kernel';
import { type Metrics, NO_METRICS, observeUnitOfWork, type UnitOfWorkSizes } from '@app/metrics';
import type { Engine, Tx } from './tx';

/**
 * An act that many callers do at the same time, written so that one transaction can serve them all: on PostgreSQL
 * those of one moment travel together, each statement once for all of them.
 */
export interface SharedAct<Input, Output> {
  /** The act of one caller. */
  alone(tx: Tx, input: Input): Promise<Output>;
  /**
   * The same for several callers: one outcome for each, in their order, and nothing written for those whose outcome is
   * undefined, which are then done alone. An error undoes all of it, and each is done alone.
   */
  together(tx: Tx, inputs: readonly Input[]): Promise<readonly (Output | undefined)[]>;
}

/** The only way to the database. A unit awaits nothing but its own statements. */
export abstract class UnitOfWork {
  abstract readonly engine: Engine;
  protected observer = observeUnitOfWork(NO_METRICS, { unitsWaiting: () => 0 });

  /** From now on its commits, retries and queue stand in the metrics. */
  observedBy(metrics: Metrics): this {
    this.observer = observeUnitOfWork(metrics, this.sizes());
    return this;
  }

  protected sizes(): UnitOfWorkSizes {
    return { unitsWaiting: () => 0 };
  }

  /**
   * Runs `work` in one transaction. Resolves when it is committed and durable; rejects when nothing of it remains.
   * `work` may be run again from its beginning where it met another unit (PostgreSQL: 40001, 40P01, or a
   * {@link ConcurrentChange} of its own).
   * @throws ApiError 503 `service_unavailable` when the database cannot commit now; else whatever `work` throws.
   */
  abstract write<T>(work: (tx: Tx) => Promise<T>): Promise<T>;

  /** {@link write} for an act that shares a transaction with others of its kind where that is cheaper. */
  share<Input, Output>(act: SharedAct<Input, Output>, input: Input): Promise<Output> {
    return this.write((tx) => act.alone(tx, input));
  }

  /** Runs `work` on one consistent snapshot of what was committed before the call; it cannot write. */
  abstract read<T>(work: (tx: Tx) => Promise<T>): Promise<T>;

  /** {@link read} for a single statement about texts: its first row, if there is one. The cheapest way to the database. */
  abstract get<Row>(sql: string, ...values: readonly string[]): Promise<Row | undefined>;

  /** {@link read} for work that takes long, such as a streamed export: it holds up nobody. */
  abstract snapshot<T>(work: (tx: Tx) => Promise<T>): Promise<T>;

  /**
   * Removes what erased rows left in the engine's own files, as far as the engine can; resolves when done or when it
   * has to be left to a later try. Call it after the erasing unit.
   */
  abstract scrub(): Promise<void>;

  /**
   * {@link scrub} of the keys alone, for certain: when it resolves, no key that was destroyed before the call is left in
   * the engine's files as far as the engine can remove it.
   * @throws ApiError 503 `service_unavailable` when that cannot be done now.
   */
  abstract scrubKeys(): Promise<void>;

  /** @throws Error when the database does not answer; for the readiness probe. */
  abstract ping(): Promise<void>;
}

/** The unit found that another one was faster: it is undone and run again. */
export class ConcurrentChange extends OwnError {
  constructor() {
    super('Another unit of work has changed what this one was about to create');
  }
}
