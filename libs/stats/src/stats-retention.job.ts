import { Injectable, Logger } from '@nestjs/common';
import { UnitOfWork } from '@app/database';
import { botByBot, type Job, type Lease, nextBotBy, PeriodicJob } from '@app/jobs';
import { Clock, daysAfter } from '@app/kernel';
import { BUCKETS } from './stat-count.entity';
import { KEPT_DAYS } from './stats.period';
import { beginOf, oldestOf, removeCounts } from './stats.sql';

const NEXT_BOT = 'SELECT MIN(bot_id) AS bot_id FROM stats_counts WHERE bot_id > ?';

/** Removes the counts of days that ended more than 400 days ago, one day in each unit. */
@PeriodicJob({ lookEveryMs: 60_000 })
@Injectable()
export class StatsRetention implements Job {
  readonly name = 'stats-retention';
  readonly everyMs = 3_600_000;
  private readonly logger = new Logger(StatsRetention.name);

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  run(lease: Lease, stopping: AbortSignal): Promise<void> {
    const remove = (botId: string): Promise<void> => this.removeOld(lease, botId, stopping);
    return lease.keep(() => botByBot(nextBotBy(this.unitOfWork, NEXT_BOT), remove, stopping, this.logger));
  }

  private async removeOld(lease: Lease, botId: string, stopping: AbortSignal): Promise<void> {
    const kept = beginOf('day', this.clock.daysAgoIso(KEPT_DAYS));
    for (const bucket of BUCKETS) {
      for (;;) {
        const oldest = await this.unitOfWork.read((tx) => oldestOf(tx, botId, bucket));
        if (oldest === undefined || oldest >= kept || stopping.aborted) break;
        const from = beginOf('day', oldest);
        await lease.batch((tx) => removeCounts(tx, botId, { bucket, from, until: daysAfter(from, 1) }));
      }
    }
  }
}
