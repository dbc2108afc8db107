import { setImmediate as nextTurn } from 'node:timers/promises';
import { ApiError } from '@app/common';
import type { SharedAct, UnitOfWork } from './unit-of-work';

/** Callers that one transaction serves at most. */
const BATCH_MAX = 128;
/** Transactions of one kind of act at the same time; who comes meanwhile joins the next one. */
const LANES = 2;

interface Waiting<Input, Output> {
  readonly input: Input;
  readonly resolve: (outcome: Output) => void;
  readonly reject: (error: unknown) => void;
}

/** Lets the callers of one kind of act share transactions; each is answered after the commit, and each by itself. */
export class SharedQueue<Input, Output> {
  private waiting: Waiting<Input, Output>[] = [];
  private running = 0;

  constructor(
    private readonly act: SharedAct<Input, Output>,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  add(input: Input): Promise<Output> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ input, resolve, reject });
      if (this.running < LANES) void this.run();
    });
  }

  private async run(): Promise<void> {
    this.running++;
    // The rest of this turn of the event loop joins the first batch.
    await nextTurn();
    for (let batch = this.take(); batch.length > 0; batch = this.take()) await this.serve(batch);
    this.running--;
  }

  private take(): Waiting<Input, Output>[] {
    return this.waiting.splice(0, BATCH_MAX);
  }

  private async serve(batch: readonly Waiting<Input, Output>[]): Promise<void> {
    let outcomes: readonly (Output | undefined)[] = [];
    try {
      const inputs = batch.map(({ input }) => input);
      outcomes = await this.unitOfWork.write((tx) => this.act.together(tx, inputs));
    } catch (error) {
      // The database cannot do it now, or nobody knows whether it has: asking again one by one would not help.
      if (error instanceof ApiError && error.code === 'service_unavailable') {
        for (const { reject } of batch) reject(error);
        return;
      }
    }
    batch.forEach((waiting, at) => {
      const outcome = outcomes[at];
      if (outcome !== undefined) waiting.resolve(outcome);
      else
        this.unitOfWork
          .write((tx) => this.act.alone(tx, waiting.input))
          .then(waiting.resolve, waiting.reject);
    });
  }
}
