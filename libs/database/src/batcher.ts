import { setImmediate as nextTurn } from 'node:timers/promises';
import { databaseUnavailable } from './database-faults';

/** The maximum of callers in one batch. */
const BATCH_MAX = 128;
/** The maximum of batches of one kind that run at the same time, by default. Later callers join the next batch. */
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
    for (
      let first = this.waiting[0];
      first !== undefined && first.joinedMs < sinceMs;
      first = this.waiting[0]
    ) {
      first.reject(databaseUnavailable());
      this.waiting.shift();
    }
    return this.waiting.splice(0, BATCH_MAX);
  }
}
