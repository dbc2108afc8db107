import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { BatchSeal } from './event-evidence';
import type { ThreadBatch, ThreadSecrets } from './thread-batch';

/** Five hundred events take it a tenth of a second. */
const ANSWER_MS = 10_000;
/** Nobody has asked for so long: the memory is given back. */
const IDLE_MS = 60_000;
/** It keeps nothing from one batch to the next. */
const LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };

/** A thread of this process, started when it is first asked. It computes one batch after the other. */
export class SealingThread {
  private worker: Worker | undefined;
  private turns: Promise<unknown> = Promise.resolve();
  private idle: NodeJS.Timeout | undefined;

  constructor(
    private readonly secrets: () => ThreadSecrets,
    private readonly path = join(__dirname, 'event-sealing.thread.js'),
    private readonly idleMs = IDLE_MS,
  ) {}

  get isRunning(): boolean {
    return this.worker !== undefined;
  }

  /** @throws Error where it cannot be started, has died, or does not answer; the next one to ask starts it anew */
  seal(batch: ThreadBatch): Promise<BatchSeal> {
    const turn = this.turns.then(() => this.ask(batch));
    this.turns = turn.catch(() => undefined);
    return turn;
  }

  async end(): Promise<void> {
    clearTimeout(this.idle);
    const { worker } = this;
    this.worker = undefined;
    await worker?.terminate();
  }

  private async ask(batch: ThreadBatch): Promise<BatchSeal> {
    clearTimeout(this.idle);
    this.worker ??= this.start();
    try {
      const answer = once(this.worker, 'message', { signal: AbortSignal.timeout(ANSWER_MS) });
      this.worker.postMessage(batch, [batch.keys.buffer as ArrayBuffer]);
      const [seal] = (await answer) as [BatchSeal];
      this.idle = setTimeout(() => void this.end(), this.idleMs).unref();
      return seal;
    } catch (error) {
      await this.end();
      throw error;
    }
  }

  /** Without the settings and the arguments of the process: it needs none of them. */
  private start(): Worker {
    const worker = new Worker(this.path, {
      workerData: this.secrets(),
      resourceLimits: LIMITS,
      env: {},
      execArgv: [],
    });
    worker.unref();
    // Also while nobody waits for an answer, where an error that nobody hears of would end the process.
    worker.on('error', () => {
      if (this.worker === worker) this.worker = undefined;
    });
    return worker;
  }
}
