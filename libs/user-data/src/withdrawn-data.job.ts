import { Inject, Injectable, Logger } from '@nestjs/common';
import { UnitOfWork } from '@app/database';
import { botByBot, type Job, type Lease, nextBotBy, PeriodicJob } from '@app/jobs';
import { Clock, CONFIG, type Config } from '@app/kernel';
import { BATCH, DueValues } from './due-values';

const NEXT_BOT =
  'SELECT bot_id FROM user_data WHERE bot_id > ? AND withdrawn_at IS NOT NULL ORDER BY bot_id LIMIT 1';

/**
 * Erases the values of a withdrawn consent `REVOKED_DATA_GRACE_DAYS` after the withdrawal, within a minute, or at the next
 * start; never with the setting `off`.
 */
@PeriodicJob({ lookEveryMs: 15_000 })
@Injectable()
export class WithdrawnDataErasure implements Job {
  readonly name = 'withdrawn-data';
  readonly everyMs = 30_000;
  private readonly logger = new Logger(WithdrawnDataErasure.name);

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly values: DueValues,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async run(lease: Lease, stopping: AbortSignal): Promise<void> {
    const graceDays = this.config.revokedDataGraceDays;
    if (graceDays === undefined) return;
    const erase = async (botId: string): Promise<void> => {
      if (!(await this.isDue(botId, this.clock.daysAgoIso(graceDays)))) return;
      // The last batch is not full. Locked values are left to the next pass.
      for (let looked = BATCH; looked === BATCH && !stopping.aborted;)
        looked = await lease.batch((tx) => this.values.eraseWithdrawn(tx, botId));
    };
    await lease.keep(() => botByBot(nextBotBy(this.unitOfWork, NEXT_BOT), erase, stopping, this.logger));
  }

  private async isDue(botId: string, before: string): Promise<boolean> {
    const sql = 'SELECT 1 FROM user_data WHERE bot_id = ? AND withdrawn_at <= ? LIMIT 1';
    return (await this.unitOfWork.get(sql, botId, before)) !== undefined;
  }
}
