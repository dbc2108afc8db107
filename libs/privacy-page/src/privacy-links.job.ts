import { Injectable } from '@nestjs/common';
import { type Batches, type BotSweep, PeriodicJob } from '@app/jobs';
import { Clock } from '@app/kernel';
import { removeExpired } from './privacy-links.sql';

/** Removes expired privacy links, at most an hour later. */
@PeriodicJob({ lookEveryMs: 60_000 })
@Injectable()
export class PrivacyLinksRetention implements BotSweep {
  readonly name = 'privacy-links-retention';
  readonly everyMs = 3_600_000;
  readonly table = 'privacy_links';

  constructor(private readonly clock: Clock) {}

  async *batches(botId: string): Batches {
    yield (tx) => removeExpired(tx, botId, this.clock.nowIso());
  }
}
