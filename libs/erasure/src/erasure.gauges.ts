import { Injectable, OnApplicationBootstrap } from '@nestjs/common';
import { UnitOfWork } from '@app/database';
import { Clock, SharedReading } from '@app/kernel';
import { Metrics } from '@app/metrics';

/** At most one query in this time. */
const HOLD_MS = 5_000;
const LOOKED_AT_MAX = 1_000;

interface Processing {
  readonly processing: number | string;
  readonly oldest: string | null;
}

/** Metrics: the number of erasures under way, the age of the oldest, and of the oldest that is recoverable, in seconds. */
@Injectable()
export class ErasureGauges implements OnApplicationBootstrap {
  private readonly reading: SharedReading<Processing | undefined>;
  private readonly recoverable: SharedReading<string | undefined>;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
  ) {
    this.reading = new SharedReading(clock, HOLD_MS, () => this.look());
    this.recoverable = new SharedReading(clock, HOLD_MS, () => this.oldestRecoverable());
  }

  onApplicationBootstrap(): void {
    this.metrics.gauge('erasuresProcessing', async () => Number((await this.reading.get())?.processing ?? 0));
    this.metrics.gauge('erasureOldestAge', () => this.oldestAgeSeconds());
    this.metrics.gauge('erasureRecoverableAge', async () => this.ageOf(await this.recoverable.get()));
  }

  /** The age of the oldest erasure that is under way, 0 for none. */
  async oldestAgeSeconds(): Promise<number> {
    return this.ageOf((await this.reading.get())?.oldest);
  }

  private ageOf(time: string | null | undefined): number {
    return time == null ? 0 : Math.max(0, (this.clock.nowMs() - Date.parse(time)) / 1000);
  }

  private async oldestRecoverable(): Promise<string | undefined> {
    const row = await this.unitOfWork.get<{ completed_at: string }>(
      `SELECT completed_at FROM deletion_requests
       WHERE unrecoverable_at IS NULL AND key_id IS NOT NULL AND status = 'completed' ORDER BY id LIMIT 1`,
    );
    return row?.completed_at;
  }

  private look(): Promise<Processing | undefined> {
    return this.unitOfWork.get<Processing>(
      `SELECT COUNT(*) AS processing, MIN(begun.created_at) AS oldest
       FROM (SELECT created_at FROM deletion_requests WHERE status = 'processing'
             ORDER BY bot_id, user_id LIMIT ${LOOKED_AT_MAX}) begun`,
    );
  }
}
