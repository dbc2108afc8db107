import { Injectable, Logger } from '@nestjs/common';
import { limitedCategories, nextBotWithLimits } from '@app/categories';
import { UnitOfWork } from '@app/database';
import { botByBot, type Job, type Lease, PeriodicJob } from '@app/jobs';
import { Clock } from '@app/kernel';
import { BATCH, DueValues } from './due-values';

/** Erases values older than the present `retention_days` of their category, also those that became due during a downtime. */
@PeriodicJob({ lookEveryMs: 60_000 })
@Injectable()
export class CategoryRetention implements Job {
  readonly name = 'category-retention';
  readonly everyMs = 3_600_000;
  private readonly logger = new Logger(CategoryRetention.name);

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly values: DueValues,
    private readonly clock: Clock,
  ) {}

  async run(lease: Lease, stopping: AbortSignal): Promise<void> {
    const retain = async (botId: string): Promise<void> => {
      for (const key of await this.categoriesDue(botId)) {
        // The last batch is not full. Locked values are left to the next pass.
        for (let looked = BATCH; looked === BATCH && !stopping.aborted;)
          looked = await lease.batch((tx) => this.values.eraseAged(tx, botId, key));
      }
    };
    await lease.keep(() =>
      botByBot((after) => nextBotWithLimits(this.unitOfWork, after), retain, stopping, this.logger),
    );
  }

  private categoriesDue(botId: string): Promise<string[]> {
    return this.unitOfWork.read(async (tx) => {
      const due: string[] = [];
      for (const { key, retentionDays } of await limitedCategories(tx, botId)) {
        const sql =
          'SELECT 1 FROM user_data WHERE bot_id = ? AND category_key = ? AND retention_from <= ? LIMIT 1';
        if ((await tx.get(sql, botId, key, this.clock.daysAgoIso(retentionDays))) !== undefined)
          due.push(key);
      }
      return due;
    });
  }
}
