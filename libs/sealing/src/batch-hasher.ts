import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { InstallationKeys } from '@app/crypto';
import { ConcurrentChange } from '@app/database';
import { Degradations, describeFault } from '@app/kernel';
import type { BatchSeal } from './event-commitments';
import { EventOpener, type StoredEvents } from './event-opener';
import { SEALING_PAUSE_MS, HashingThread } from './hashing-thread';
import { secretsOf, threadBatch } from './thread-batch';

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
