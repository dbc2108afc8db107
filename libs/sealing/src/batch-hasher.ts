import { InstallationKeys } from '@app/crypto';
import { ConcurrentChange } from '@app/database';
import { Degradations, describeFault, OwnError } from '@app/kernel';
import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { once } from 'node:events';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { BatchSeal } from './event-commitments';
import { EventOpener, type StoredEvents } from './event-opener';
import { secretsOf, threadBatch, type ThreadBatch, type ThreadSecrets } from './thread-batch';

/** After a failure the thread is not used for this long. */
const SEALING_PAUSE_MS = 60_000;

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

/** Smaller batches are hashed faster in place than on the thread. */
const THREAD_MIN = 100;
/** Most characters of encrypted details in a batch for the thread, which needs several times as much memory. */
const THREAD_MAX = 16_000_000;
/** Events hashed in place at once; requests are answered in between. */
const STRETCH = 25;
/** The condition of {@link Degradations} while the thread does not work. */
const IN_PLACE = 'audit_sealing_in_place';

/** Hashes the events of batches. Large batches are hashed on a thread, so that requests do not wait. */
@Injectable()
export class BatchHasher implements OnApplicationShutdown {
  private readonly logger = new Logger('SealLoop');
  private readonly thread: HashingThread;

  constructor(
    private readonly opener: EventOpener,
    private readonly degradations: Degradations,
    service: InstallationKeys,
  ) {
    this.thread = new HashingThread(() => secretsOf(service));
  }

  /** @throws ConcurrentChange when a subject key was destroyed after it was read */
  async seal(botId: string, events: StoredEvents): Promise<BatchSeal> {
    const onThread = isForThread(events) ? await this.sealOnThread(botId, events) : undefined;
    if (onThread !== undefined) return onThread;
    const breathe = (at: number): Promise<void> | undefined => (at % STRETCH === 0 ? nextTurn() : undefined);
    return this.opener.commitments.seal(botId, events.rows, events.keys, breathe);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.thread.end();
  }

  /** Undefined when the thread fails or is paused. */
  private async sealOnThread(botId: string, events: StoredEvents): Promise<BatchSeal | undefined> {
    try {
      return await this.thread.seal(() => threadBatch(botId, events));
    } catch (error) {
      if (error instanceof ConcurrentChange) throw error;
      if (!this.degradations.current.includes(IN_PLACE)) this.degrade(error);
      return undefined;
    }
  }

  /** Logs the failure and reports the condition until the next try of the thread. */
  private degrade(error: unknown): void {
    this.logger.warn(
      `The audit log is sealed without a thread, which slows answers down; the thread is tried again in ${SEALING_PAUSE_MS / 1_000} s`,
      describeFault(error),
    );
    this.degradations.begin(IN_PLACE);
    setTimeout(() => this.degradations.end(IN_PLACE), SEALING_PAUSE_MS).unref();
  }
}

function isForThread({ rows }: StoredEvents): boolean {
  return (
    rows.length >= THREAD_MIN &&
    rows.reduce((sum, { details }) => sum + (details?.length ?? 0), 0) <= THREAD_MAX
  );
}
