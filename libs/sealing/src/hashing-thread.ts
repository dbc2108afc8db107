import { OwnError } from '@app/kernel';
import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { BatchSeal } from './event-commitments';
import type { ThreadBatch, ThreadSecrets } from './thread-batch';

/** After a failure the thread is not used for this long. */
export const SEALING_PAUSE_MS = 60_000;

const LIMITS = {
  /** Limit for one batch; 500 events take 0.1 s. */
  answerMs: 5_000,
  /** After this time without a batch the thread ends, which frees its memory. */
  idleMs: 60_000,
  pauseMs: SEALING_PAUSE_MS,
};
/** The thread keeps no data between batches. */
const MEMORY = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };

/** A thread of this process that hashes one batch after the other; started by the first batch. */
export class HashingThread {
  private worker: Worker | undefined;
  private turns: Promise<unknown> = Promise.resolve();
  private idle: NodeJS.Timeout | undefined;
  private failedMs = -Infinity;

  constructor(
    private readonly secrets: () => ThreadSecrets,
    private readonly path = join(__dirname, 'hashing.thread.js'),
    private readonly limits = LIMITS,
  ) {}

  get isRunning(): boolean {
    return this.worker !== undefined;
  }

  /**
   * Hashes one batch. `make` is called when the thread is free; its errors are passed on.
   * @throws Error when the thread cannot be started, dies, does not answer in time, or has failed lately
   */
  seal(make: () => ThreadBatch): Promise<BatchSeal> {
    const turn = this.turns.then(() => this.ask(make));
    this.turns = turn.catch(() => undefined);
    return turn;
  }

  async end(): Promise<void> {
    clearTimeout(this.idle);
    const { worker } = this;
    this.worker = undefined;
    await worker?.terminate();
  }

  private async ask(make: () => ThreadBatch): Promise<BatchSeal> {
    if (performance.now() - this.failedMs < this.limits.pauseMs)
      throw new OwnError('the thread has failed lately');
    clearTimeout(this.idle);
    const batch = make();
    try {
      this.worker ??= this.start();
      this.worker.postMessage(batch, [batch.keys.buffer as ArrayBuffer]);
      const seal = await this.answerOf(this.worker);
      this.idle = setTimeout(() => void this.end(), this.limits.idleMs).unref();
      return seal;
    } catch (error) {
      this.failedMs = performance.now();
      await this.end();
      throw error;
    } finally {
      // Keys that were not transferred to the thread are overwritten here.
      if (batch.keys.byteLength > 0) batch.keys.fill(0);
    }
  }

  private async answerOf(worker: Worker): Promise<BatchSeal> {
    const done = new AbortController();
    const signal = AbortSignal.any([done.signal, AbortSignal.timeout(this.limits.answerMs)]);
    try {
      const ended = once(worker, 'exit', { signal }).then(() => {
        throw new OwnError('the thread has ended');
      });
      const [seal] = (await Promise.race([once(worker, 'message', { signal }), ended])) as [BatchSeal];
      return seal;
    } finally {
      done.abort();
    }
  }

  /** Starts the thread without the settings and arguments of the process. */
  private start(): Worker {
    const worker = new Worker(this.path, {
      workerData: this.secrets(),
      resourceLimits: MEMORY,
      env: {},
      execArgv: [],
    });
    worker.unref();
    // An error without a listener would end the process.
    worker.on('error', () => undefined);
    worker.once('exit', () => {
      if (this.worker === worker) this.worker = undefined;
    });
    return worker;
  }
}
