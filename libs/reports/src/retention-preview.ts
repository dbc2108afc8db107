import { Injectable } from '@nestjs/common';
import { nextBot } from '@app/bots';
import { UnitOfWork } from '@app/database';
import { EvidenceRetention, type ExpiredRecords } from '@app/erasure';
import { Clock } from '@app/kernel';
import { countDeletions } from '@app/servers';
import { type DueCount, DueCounts } from '@app/user-data';

/** What the next runs of the jobs would take from one bot: counts, and nothing about anybody. */
export interface RetentionForecast {
  readonly botId: string;
  readonly botName: string;
  /** Values of user data. */
  readonly due: readonly DueCount[];
  /** Guilds that are to be deleted, and those among them whose time has come. */
  readonly guilds: { readonly scheduled: number; readonly due: number };
  readonly evidence: ExpiredRecords;
}

/** Says what retention would erase now, bot by bot, in the order of their ids; it erases nothing. */
@Injectable()
export class RetentionPreview {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly values: DueCounts,
    private readonly evidence: EvidenceRetention,
    private readonly clock: Clock,
  ) {}

  async *ofAllBots(): AsyncGenerator<RetentionForecast> {
    for (let bot = await nextBot(this.unitOfWork, ''); bot !== undefined;) {
      yield await this.of(bot);
      bot = await nextBot(this.unitOfWork, bot.id);
    }
  }

  private async of(bot: { readonly id: string; readonly name: string }): Promise<RetentionForecast> {
    const guilds = await countDeletions(this.unitOfWork, bot.id, this.clock.nowIso());
    return {
      botId: bot.id,
      botName: bot.name,
      due: await this.values.of(bot.id),
      guilds,
      evidence: await this.evidence.expired(bot.id),
    };
  }
}
