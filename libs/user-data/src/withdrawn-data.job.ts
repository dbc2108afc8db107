import { Injectable, Logger } from '@nestjs/common';
import { botByBot, type Job, type Lease, PeriodicJob } from '@app/jobs';
import { DueData } from './due-data';

/**
 * Erases what a withdrawn consent has left `REVOKED_DATA_GRACE_DAYS` after the withdrawal, within a minute, or at the next
 * start; never with the setting `off`.
 */
@PeriodicJob({ lookEveryMs: 15_000 })
@Injectable()
export class WithdrawnDataErasure implements Job {
  readonly name = 'withdrawn-data';
  readonly everyMs = 30_000;
  private readonly logger = new Logger(WithdrawnDataErasure.name);

  constructor(private readonly data: DueData) {}

  async run(lease: Lease, stopping: AbortSignal): Promise<void> {
    const erase = (botId: string): Promise<void> =>
      this.data.eraseAll(lease, botId, 'consent_revoked', stopping);
    await lease.keep(() =>
      botByBot((after) => this.data.nextBotWithWithdrawn(after), erase, stopping, this.logger),
    );
  }
}
