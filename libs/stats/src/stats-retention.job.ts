import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '@app/database';
import { type Batches, type BotSweep, PeriodicJob } from '@app/jobs';
import { Clock } from '@app/kernel';
import { KEPT_DAYS } from './stats.period';
import { oldestDay, removeDay } from './stats.sql';

/** Removes the counts of days that ended more than 400 days ago, one day in each unit. */
@PeriodicJob({ lookEveryMs: 60_000 })
@Injectable()
export class StatsRetention implements BotSweep {
  readonly name = 'stats-retention';
  readonly everyMs = 3_600_000;
  readonly table = 'stats_counts';

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  async *batches(botId: string): Batches {
    const kept = this.clock.daysAgoIso(KEPT_DAYS).slice(0, 10);
    const next = (): Promise<string | undefined> => this.unitOfWork.read((tx) => oldestDay(tx, botId));
    for (let day = await next(); day !== undefined && day < kept; day = await next()) {
      const oldest = day;
      yield (tx) => removeDay(tx, botId, oldest);
    }
  }
}
