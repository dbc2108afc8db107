import { Injectable } from '@nestjs/common';
import { type Batches, type BotSweep, PeriodicJob, UnitOfWork } from '@app/database';
import { Clock } from '@app/kernel';
import { KEPT_DAYS } from './stats.service';

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
    const sql = 'SELECT MIN(day) AS day FROM stats_counts WHERE bot_id = ?';
    const oldest = async (): Promise<string | null> =>
      (await this.unitOfWork.get<{ day: string | null }>(sql, botId))?.day ?? null;
    for (let day = await oldest(); day !== null && day < kept; day = await oldest()) {
      const removed = day;
      yield (tx) => tx.run('DELETE FROM stats_counts WHERE bot_id = ? AND day = ?', botId, removed);
    }
  }
}
