import { Injectable } from '@nestjs/common';
import { nextBotWithLimits } from '@app/categories';
import { type Batches, type BotSweep, PeriodicJob, UnitOfWork } from '@app/database';
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

/**
 * Erases what a withdrawn consent has left `REVOKED_DATA_GRACE_DAYS` after the withdrawal, within a minute, or at the next
 * start; never with the setting `off`.
 */
@PeriodicJob({ lookEveryMs: 15_000 })
@Injectable()
export class WithdrawnDataErasure implements BotSweep {
  readonly name = 'withdrawn-data';
  readonly everyMs = 30_000;

  constructor(private readonly data: DueData) {}

  nextBot(after: string): Promise<string | undefined> {
    return this.data.nextBotWithWithdrawn(after);
  }

  batches(botId: string): Batches {
    return this.data.batches(botId, 'consent_revoked');
  }
}
