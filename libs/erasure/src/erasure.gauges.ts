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

/** Metrics: the number of erasures under way, and the age of the oldest in seconds. */
@Injectable()
export class ErasureGauges implements OnApplicationBootstrap {
  private readonly reading: SharedReading<Processing | undefined>;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
  ) {
    this.reading = new SharedReading(clock, HOLD_MS, () => this.look());
  }

  onApplicationBootstrap(): void {
    this.metrics.gauge('erasuresProcessing', async () => Number((await this.reading.get())?.processing ?? 0));
    this.metrics.gauge('erasureOldestAge', async () => {
      const oldest = (await this.reading.get())?.oldest;
      return oldest == null ? 0 : Math.max(0, (this.clock.nowMs() - Date.parse(oldest)) / 1000);
    });
  }

  private look(): Promise<Processing | undefined> {
    return this.unitOfWork.get<Processing>(
      `SELECT COUNT(*) AS processing, MIN(begun.created_at) AS oldest
       FROM (SELECT created_at FROM deletion_requests WHERE status = 'processing'
             ORDER BY bot_id, user_id LIMIT ${LOOKED_AT_MAX}) begun`,
    );
  }
}
