import { Injectable, Logger } from '@nestjs/common';
import { UnitOfWork } from '@app/database';
import { botByBot, type Job, type Lease, nextBotBy, PeriodicJob } from '@app/jobs';
import { Clock } from '@app/kernel';
import { removeExpired } from './privacy-links.sql';

const NEXT_BOT = 'SELECT MIN(bot_id) AS bot_id FROM privacy_links WHERE bot_id > ?';

/** Removes expired privacy links, at most an hour later. */
@PeriodicJob({ lookEveryMs: 60_000 })
@Injectable()
export class PrivacyLinksRetention implements Job {
  readonly name = 'privacy-links-retention';
  readonly everyMs = 3_600_000;
  private readonly logger = new Logger(PrivacyLinksRetention.name);

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  async run(lease: Lease, stopping: AbortSignal): Promise<void> {
    const remove = async (botId: string): Promise<void> => {
      await lease.batch((tx) => removeExpired(tx, botId, this.clock.nowIso()));
    };
    await lease.keep(() => botByBot(nextBotBy(this.unitOfWork, NEXT_BOT), remove, stopping, this.logger));
  }
}
