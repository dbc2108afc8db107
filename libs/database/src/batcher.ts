import { setImmediate as nextTurn } from 'node:timers/promises';
import { databaseUnavailable } from './database-faults';

/** Callers that travel together at most. */
const BATCH_MAX = 128;
/** Batches of one kind under way at the same time; who comes meanwhile joins the next one. */
const LANES = 2;

/** One caller, waiting for its own answer. */
export interface Waiting<Input, Output> {
  readonly input: Input;
  readonly joinedMs: number;
  readonly resolve: (output: Output) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Lets callers of one kind travel together: those of one turn of the event loop, and those who come while earlier ones
 * are under way. The busier the service is, the larger the batches.
 */
export class Batcher<Input, Output> {
  private readonly waiting: Waiting<Input, Output>[] = [];
  private running = 0;

  /** `serve` answers every passenger, and never rejects. Whoever waits for it longer than `waitMs` is refused. */
  constructor(
    private readonly serve: (batch: readonly Waiting<Input, Output>[]) => Promise<void>,
    private readonly waitMs = Infinity,
  ) {}

  /** Who has not been taken along yet. */
  get length(): number {
    return this.waiting.length;
  }

  join(input: Input): Promise<Output> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ input, joinedMs: performance.now(), resolve, reject });
      if (this.running < LANES) void this.run();
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
