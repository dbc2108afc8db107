import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { Clock, describeFault } from '@app/common';
import { ServiceKeys } from '@app/crypto';
import type { BatchSeal } from './event-evidence';
import { EventOpener, type StoredEvents } from './event-opener';
import { SealingThread } from './sealing-thread';
import { threadBatch } from './thread-batch';

/** Fewer events are computed sooner than they are handed over. */
const THREAD_MIN = 100;
/** Events that are computed in place at a stretch: requests are answered in between. */
const STRETCH = 25;
/** For so long nobody asks a thread that has failed. */
const FAULT_PAUSE_MS = 60_000;

/** Computes what batches keep of their events: large ones on a thread of their own, so that requests need not wait. */
@Injectable()
export class EventSealing implements OnApplicationShutdown {
  private readonly logger = new Logger('AuditSealing');
  private readonly thread: SealingThread;
  private failedMs = -Infinity;

  constructor(
    private readonly opener: EventOpener,
    private readonly clock: Clock,
    { digest, evidence }: ServiceKeys,
  ) {
    this.thread = new SealingThread(() => ({
      digest: Uint8Array.from(digest),
      service: { id: evidence.id, bytes: Uint8Array.from(evidence.bytes) },
    }));
  }

  /** @throws ConcurrentChange when the key of one of the subjects was destroyed since it was read */
  async seal(botId: string, events: StoredEvents): Promise<BatchSeal> {
    if (events.rows.length >= THREAD_MIN && this.clock.monotonicMs() - this.failedMs > FAULT_PAUSE_MS) {
      const batch = threadBatch(botId, events);
      try {
        return await this.thread.seal(batch);
      } catch (error) {
        this.failedMs = this.clock.monotonicMs();
        this.logger.warn(`Sealed without a thread: ${JSON.stringify(describeFault(error))}`);
      }
    }
    const breathe = (at: number): Promise<void> | undefined => (at % STRETCH === 0 ? nextTurn() : undefined);
    return this.opener.evidence.seal(botId, events.rows, events.keys, breathe);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.thread.end();
  }
}
