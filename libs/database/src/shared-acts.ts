import { ApiError } from '@app/common';
import { Convoy, type Passenger } from './convoy';
import type { SharedAct, UnitOfWork } from './unit-of-work';

/** Lets the callers of each kind of act share transactions; each is answered after the commit, and each by itself. */
export class SharedActs {
  private readonly convoys = new Map<object, unknown>();

  constructor(private readonly unitOfWork: UnitOfWork) {}

  do<Input, Output>(act: SharedAct<Input, Output>, input: Input): Promise<Output> {
    let convoy = this.convoys.get(act) as Convoy<Input, Output> | undefined;
    if (convoy === undefined) {
      convoy = new Convoy((batch) => this.serve(act, batch));
      this.convoys.set(act, convoy);
    }
    return convoy.join(input);
  }

  private async serve<Input, Output>(
    act: SharedAct<Input, Output>,
    batch: readonly Passenger<Input, Output>[],
  ): Promise<void> {
    let outcomes: readonly (Output | undefined)[] = [];
    try {
      const inputs = batch.map(({ input }) => input);
      outcomes = await this.unitOfWork.write((tx) => act.together(tx, inputs));
    } catch (error) {
      // The database cannot do it now, or nobody knows whether it has: asking again one by one would not help.
      if (error instanceof ApiError && error.code === 'service_unavailable') {
        for (const { reject } of batch) reject(error);
        return;
      }
    }
    batch.forEach(({ input, resolve, reject }, at) => {
      const outcome = outcomes[at];
      if (outcome !== undefined) resolve(outcome);
      else this.unitOfWork.write((tx) => act.alone(tx, input)).then(resolve, reject);
    });
  }
}
