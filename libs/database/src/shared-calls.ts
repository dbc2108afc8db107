import { ApiError } from '@app/kernel';
import { Batcher, type Waiting } from './batcher';
import { isTimeOut } from './database-faults';
import type { Tx } from './tx';
import { alone, type SharedWork } from './unit-of-work';

/** Shares transactions between the calls of the same work. Each caller gets its own answer after the commit. */
export class SharedCalls {
  private readonly batchers = new Map<unknown, Batcher<never, unknown>>();

  /**
   * `write` runs the work of several callers in one transaction. No caller waits longer than `waitMs` milliseconds for
   * it.
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
      // for several may be due to one of them.
      if (!isTimeOut(error) && error instanceof ApiError && error.code === 'service_unavailable') {
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
