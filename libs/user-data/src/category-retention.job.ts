import { Injectable, Logger } from '@nestjs/common';
import { nextBotWithLimits } from '@app/categories';
import { UnitOfWork } from '@app/database';
import { botByBot, type Job, type Lease, PeriodicJob } from '@app/jobs';
import { DueData } from './due-data';

/** Erases data older than the present `retention_days` of its category, also what became due during a downtime. */
@PeriodicJob({ lookEveryMs: 60_000 })
@Injectable()
export class CategoryRetention implements Job {
  readonly name = 'category-retention';
  readonly everyMs = 3_600_000;
  private readonly logger = new Logger(CategoryRetention.name);

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly data: DueData,
  ) {}

  async run(lease: Lease, stopping: AbortSignal): Promise<void> {
    const retain = (botId: string): Promise<void> => this.data.eraseAll(lease, botId, 'retention', stopping);
    await lease.keep(() =>
      botByBot((after) => nextBotWithLimits(this.unitOfWork, after), retain, stopping, this.logger),
    );
  }
}
