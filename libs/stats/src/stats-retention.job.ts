import { Injectable, Logger } from '@nestjs/common';
import { UnitOfWork } from '@app/database';
import { botByBot, type Job, type Lease, nextBotBy, PeriodicJob } from '@app/jobs';
import { Clock } from '@app/kernel';
import { KEPT_DAYS } from './stats.period';
import { oldestDay, removeDay } from './stats.sql';

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
    const kept = this.clock.daysAgoIso(KEPT_DAYS).slice(0, 10);
    while (!stopping.aborted) {
      const oldest = await this.unitOfWork.read((tx) => oldestDay(tx, botId));
      if (oldest === undefined || oldest >= kept) return;
      await lease.batch((tx) => removeDay(tx, botId, oldest));
    }
  }
}
