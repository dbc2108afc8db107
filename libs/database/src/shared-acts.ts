import { ApiError } from '@app/kernel';
import { Batcher, type Waiting } from './batcher';
import { isTimeOut } from './database-faults';
import type { Tx } from './tx';
import type { SharedAct } from './unit-of-work';

/** Shares transactions between the callers of each kind of act. Each caller gets its own answer after the commit. */
export class SharedActs {
  private readonly convoys = new Map<object, Batcher<never, unknown>>();

  /**
   * `write` runs the work of several callers in one transaction. No caller waits longer than `waitMs` milliseconds for
   * it.
   */
  constructor(
    private readonly write: <T>(work: (tx: Tx) => Promise<T>, callers: number) => Promise<T>,
    private readonly waitMs?: number,
    private readonly onFault: (error: unknown) => void = () => undefined,
  ) {}

  /** The number of callers whose transaction has not begun. */
  get waiting(): number {
    return [...this.convoys.values()].reduce((sum, { length }) => sum + length, 0);
  }

  do<Input, Output>(act: SharedAct<Input, Output>, input: Input): Promise<Output> {
    let convoy = this.convoys.get(act) as unknown as Batcher<Input, Output> | undefined;
    if (convoy === undefined) {
      convoy = new Batcher((batch) => this.serve(act, batch), this.waitMs);
      this.convoys.set(act, convoy as unknown as Batcher<never, unknown>);
    }
    return convoy.join(input);
  }

  private async serve<Input, Output>(
    act: SharedAct<Input, Output>,
    batch: readonly Waiting<Input, Output>[],
  ): Promise<void> {
    let outcomes: readonly (Output | undefined)[] = [];
    try {
      const inputs = batch.map(({ input }) => input);
      if (batch.length >= (act.fewest ?? 1))
        outcomes = await this.write((tx) => act.together(tx, inputs), batch.length);
    } catch (error) {
      // The database is unavailable or the outcome is unknown. Single runs of the acts would not help.
      // What takes too long for several may be due to one of them.
      const isDueToOne = batch.length > 1 && isTimeOut(error);
      if (!isDueToOne && error instanceof ApiError && error.code === 'service_unavailable') {
        for (const { reject } of batch) reject(error);
        return;
      }
      // Each act runs again alone and gets its own error. The operator gets a report of the shared failure.
      if (!(error instanceof ApiError)) this.onFault(error);
    }
    batch.forEach(({ input, resolve, reject }, at) => {
      const outcome = outcomes[at];
      if (outcome !== undefined) resolve(outcome);
      else this.write((tx) => act.alone(tx, input), 1).then(resolve, reject);
    });
  }
}
