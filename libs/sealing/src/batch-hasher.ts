import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { InstallationKeys } from '@app/crypto';
import { ConcurrentChange } from '@app/database';
import { Degradations, describeFault } from '@app/kernel';
import type { BatchSeal } from './event-commitments';
import { EventOpener, type StoredEvents } from './event-opener';
import { SEALING_PAUSE_MS, HashingThread } from './hashing-thread';
import { secretsOf, threadBatch } from './thread-batch';

/** Fewer events are computed sooner than they are handed over. */
const THREAD_MIN = 100;
/** Characters of sealed details, several times which a thread with its limited memory needs. */
const THREAD_MAX = 16_000_000;
/** Events that are computed in place at a stretch: requests are answered in between. */
const STRETCH = 25;
/** The condition of {@link Degradations} while there is no thread. */
const IN_PLACE = 'audit_sealing_in_place';

/** Computes what batches keep of their events: large ones on a thread of their own, so that requests need not wait. */
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

  /** @throws ConcurrentChange when the key of one of the subjects was destroyed since it was read */
  async seal(botId: string, events: StoredEvents): Promise<BatchSeal> {
    const onThread = isForThread(events) ? await this.sealOnThread(botId, events) : undefined;
    if (onThread !== undefined) return onThread;
    const breathe = (at: number): Promise<void> | undefined => (at % STRETCH === 0 ? nextTurn() : undefined);
    return this.opener.commitments.seal(botId, events.rows, events.keys, breathe);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.thread.end();
  }

  /** Undefined where the thread cannot. */
  private async sealOnThread(botId: string, events: StoredEvents): Promise<BatchSeal | undefined> {
    try {
      return await this.thread.seal(() => threadBatch(botId, events));
    } catch (error) {
      if (error instanceof ConcurrentChange) throw error;
      if (!this.degradations.current.includes(IN_PLACE)) this.degrade(error);
      return undefined;
    }
  }

  /** Until the thread is asked again. */
  private degrade(error: unknown): void {
    this.logger.warn(
      `The audit log is sealed without a thread, which slows answers down; the thread is asked again in ${SEALING_PAUSE_MS / 1_000} s`,
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
