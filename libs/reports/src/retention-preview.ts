import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '@app/database';
import { EvidenceRetention, type ExpiredRecords } from '@app/erasure';
import { Clock } from '@app/kernel';
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
    for (let bot = await this.botAfter(''); bot !== undefined; bot = await this.botAfter(bot.id))
      yield await this.of(bot);
  }

  private async of(bot: { readonly id: string; readonly name: string }): Promise<RetentionForecast> {
    const guilds = await this.unitOfWork.get<{ scheduled: number | string; due: number | string | null }>(
      `SELECT COUNT(*) AS scheduled, SUM(CASE WHEN deletion_scheduled_for <= ? THEN 1 ELSE 0 END) AS due
       FROM servers WHERE bot_id = ? AND deletion_scheduled_for IS NOT NULL`,
      ...[this.clock.nowIso(), bot.id],
    );
    return {
      botId: bot.id,
      botName: bot.name,
      due: await this.values.of(bot.id),
      guilds: { scheduled: Number(guilds?.scheduled ?? 0), due: Number(guilds?.due ?? 0) },
      evidence: await this.evidence.expired(bot.id),
    };
  }

  private botAfter(id: string): Promise<{ id: string; name: string } | undefined> {
    return this.unitOfWork.get(
      'SELECT id, name FROM bots WHERE id > ? AND deleted_at IS NULL ORDER BY id LIMIT 1',
      id,
    );
  }
}
