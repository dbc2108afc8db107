import { Injectable } from '@nestjs/common';
import { nextBot } from '@app/bots';
import { UnitOfWork } from '@app/database';
import { EvidenceRetention, type ExpiredRecords } from '@app/gdpr';
import { Clock } from '@app/kernel';
import { countDeletions } from '@app/servers';
import { type DueCount, DueData } from '@app/user-data';

/** What the next runs of the jobs would remove from one bot: counts without any user. */
interface RetentionForecast {
  readonly botId: string;
  readonly botName: string;
  /** Values of user data, and rows of modules that rest on a consent. */
  readonly due: readonly DueCount[];
  /** Guilds with a scheduled deletion, and those of them that are due. */
  readonly guilds: { readonly scheduled: number; readonly due: number };
  readonly evidence: ExpiredRecords;
}

/** Counts what retention would erase now, for each bot, ordered by id; erases nothing. */
@Injectable()
export class RetentionPreview {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly data: DueData,
    private readonly evidence: EvidenceRetention,
    private readonly clock: Clock,
  ) {}

  async *ofAllBots(): AsyncGenerator<RetentionForecast> {
    for (let bot = await nextBot(this.unitOfWork, ''); bot !== undefined;) {
      const { id, name } = bot;
      yield {
        botId: id,
        botName: name,
        due: await this.data.counts(id),
        guilds: await countDeletions(this.unitOfWork, id, this.clock.confirmedIso()),
        evidence: await this.evidence.expired(id),
      };
      bot = await nextBot(this.unitOfWork, id);
    }
  }
}
