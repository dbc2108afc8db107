import { setImmediate as nextTurn } from 'node:timers/promises';
import { ApiError } from '@app/kernel';
import { databaseUnavailable, isUnavailable } from './database-faults';
import type { Tx } from './tx';
import { alone, type SharedWork } from './unit-of-work';

/** The maximum of callers in one batch. */
const BATCH_MAX = 128;
/** The maximum of batches of one kind that run at the same time. Later callers join the next batch. */
const LANES = 2;

/** One caller that waits for its own answer. */
export interface Waiting<Input, Output> {
  readonly input: Input;
  readonly joinedMs: number;
  readonly resolve: (output: Output) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Serves callers of one kind in batches: the callers of one turn of the event loop, and the callers that arrive while
 * earlier batches run. Batches grow with the load.
 */
export class Batcher<Input, Output> {
  private readonly waiting: Waiting<Input, Output>[] = [];
  private running = 0;

  /**
   * `serve` answers every caller of a batch and never rejects. A caller that waits longer than `waitMs` milliseconds is
   * refused.
   */
  constructor(
    private readonly serve: (batch: readonly Waiting<Input, Output>[]) => Promise<void>,
    private readonly waitMs = Infinity,
    private readonly lanes = LANES,
  ) {}

  /** The number of callers that are in no batch yet. */
  get length(): number {
    return this.waiting.length;
  }

  join(input: Input): Promise<Output> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ input, joinedMs: performance.now(), resolve, reject });
      if (this.running < this.lanes) void this.run();
    });
  }

  private async run(): Promise<void> {
    this.running++;
    await nextTurn();
    for (let batch = this.take(); batch.length > 0; batch = this.take()) await this.serve(batch);
    this.running--;
  }

  private take(): Waiting<Input, Output>[] {
    const sinceMs = performance.now() - this.waitMs;
    while ((this.waiting[0]?.joinedMs ?? Infinity) < sinceMs)
      this.waiting.shift()?.reject(databaseUnavailable());
    return this.waiting.splice(0, BATCH_MAX);
  }
}

/** Shares transactions between the calls of the same work. Each caller gets its own answer after the commit. */
export class SharedCalls {
  private readonly batchers = new Map<unknown, Batcher<never, unknown>>();

  /**
   * `write` runs the work of several callers in one transaction, for which no caller waits longer than `waitMs`
   * milliseconds.
   */
  constructor(
    private readonly write: <T>(unit: (tx: Tx) => Promise<T>, callers: number) => Promise<T>,
    private readonly waitMs?: number,
    private readonly onFault: (error: unknown) => void = () => undefined,
  ) {}

  /** The number of callers whose transaction has not begun. */
  get waiting(): number {
    return [...this.batchers.values()].reduce((sum, { length }) => sum + length, 0);
  }

  do<Input, Output>(work: SharedWork<Input, Output>, input: Input): Promise<Output> {
    let batcher = this.batchers.get(work) as unknown as Batcher<Input, Output> | undefined;
    if (batcher === undefined) {
      batcher = new Batcher((batch) => this.serve(work, batch), this.waitMs);
      this.batchers.set(work, batcher as unknown as Batcher<never, unknown>);
    }
    return batcher.join(input);
  }

  private async serve<Input, Output>(
    work: SharedWork<Input, Output>,
    batch: readonly Waiting<Input, Output>[],
  ): Promise<void> {
    let outcomes: readonly (Output | undefined)[] = [];
    try {
      const inputs = batch.map(({ input }) => input);
      if (batch.length > 1) outcomes = await this.write((tx) => work(tx, inputs), batch.length);
    } catch (error) {
      // The database is unavailable or the outcome is unknown: to run the work for each would not help. What takes too long
      // for several, or meets a damaged row, may be due to one of them.
      if (isUnavailable(error)) {
        for (const { reject } of batch) reject(error);
        return;
      }
      // Each caller is served again alone and gets its own error. The operator gets a report of the shared failure.
      if (!(error instanceof ApiError)) this.onFault(error);
    }
    batch.forEach(({ input, resolve, reject }, at) => {
      const outcome = outcomes[at];
      if (outcome !== undefined) resolve(outcome);
      else this.write(alone(work, input), 1).then(resolve, reject);
    });
  }
}
