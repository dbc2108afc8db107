import { ApiError } from '@app/kernel';
import { Batcher, type Waiting } from './batcher';
import type { Tx } from './tx';
import type { SharedAct } from './unit-of-work';

/** Lets the callers of each kind of act share transactions; each is answered after the commit, and each by itself. */
export class SharedActs {
  private readonly convoys = new Map<object, Batcher<never, unknown>>();

  /** `write` runs work that serves a number of callers in one transaction, for which nobody waits longer than `waitMs`. */
  constructor(
    private readonly write: <T>(work: (tx: Tx) => Promise<T>, callers: number) => Promise<T>,
    private readonly waitMs?: number,
    private readonly onFault: (error: unknown) => void = () => undefined,
  ) {}

  /** Callers whose transaction has not begun. */
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
      outcomes = await this.write((tx) => act.together(tx, inputs), batch.length);
    } catch (error) {
      // The database cannot do it now, or nobody knows whether it has: asking again one by one would not help.
      if (error instanceof ApiError && error.code === 'service_unavailable') {
        for (const { reject } of batch) reject(error);
        return;
      }
      // One by one each hears of its own part in it; that they could not go together is news to the operator.
      if (!(error instanceof ApiError)) this.onFault(error);
    }
    batch.forEach(({ input, resolve, reject }, at) => {
      const outcome = outcomes[at];
      if (outcome !== undefined) resolve(outcome);
      else this.write((tx) => act.alone(tx, input), 1).then(resolve, reject);
    });
  }
}
