import { OwnError } from '@app/kernel';
import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { BatchSeal } from './event-commitments';
import type { ThreadBatch, ThreadSecrets } from './thread-batch';

/** For so long nobody asks one that has failed. */
export const SEALING_PAUSE_MS = 60_000;

const LIMITS = {
  /** Five hundred events take it a tenth of a second. */
  answerMs: 5_000,
  /** Nobody has asked for so long: the memory is given back. */
  idleMs: 60_000,
  pauseMs: SEALING_PAUSE_MS,
};
/** It keeps nothing from one batch to the next. */
const MEMORY = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };

/** A thread of this process, started when it is first asked. It computes one batch after the other. */
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
   * `make` is called when the turn of the batch has come; what it throws is passed on.
   * @throws Error where the thread cannot be started, dies, does not answer, or has failed lately
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
      // Those that were handed over are the thread's to overwrite.
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

  /** Without the settings and the arguments of the process: it needs none of them. */
  private start(): Worker {
    const worker = new Worker(this.path, {
      workerData: this.secrets(),
      resourceLimits: MEMORY,
      env: {},
      execArgv: [],
    });
    worker.unref();
    // Also while nobody waits for an answer, where an error that nobody hears of would end the process.
    worker.on('error', () => undefined);
    worker.once('exit', () => {
      if (this.worker === worker) this.worker = undefined;
    });
    return worker;
  }
}
