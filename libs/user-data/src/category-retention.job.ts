import { Injectable } from '@nestjs/common';
import { nextBotWithLimits } from '@app/categories';
import { UnitOfWork } from '@app/database';
import { type Batches, type BotSweep, PeriodicJob } from '@app/jobs';
import { DueData } from './due-data';

/** Erases data older than the present `retention_days` of its category, also what became due during a downtime. */
@PeriodicJob({ lookEveryMs: 60_000 })
@Injectable()
export class CategoryRetention implements BotSweep {
  readonly name = 'category-retention';
  readonly everyMs = 3_600_000;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly data: DueData,
  ) {}

  nextBot(after: string): Promise<string | undefined> {
    return nextBotWithLimits(this.unitOfWork, after);
  }

  batches(botId: string): Batches {
    return this.data.batches(botId, 'retention');
  }
}
