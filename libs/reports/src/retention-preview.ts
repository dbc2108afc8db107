import { Injectable } from '@nestjs/common';
import { nextBot } from '@app/bots';
import { UnitOfWork } from '@app/database';
import { EvidenceRetention, type ExpiredRecords } from '@app/erasure';
import { Clock, daysAfter } from '@app/kernel';
import { countDeletions } from '@app/servers';
import { type DueCount, DueCounts } from '@app/user-data';
import { ReportTurns } from './report-turns';
import type { RetentionPreviewView } from './retention-preview.dto';

/** What runs of the jobs would remove from one bot: counts without any user. */
interface RetentionCounts {
  /** Values of user data. */
  readonly due: readonly DueCount[];
  /** Guilds with a scheduled deletion, and those of them that are due. */
  readonly guilds: { readonly scheduled: number; readonly due: number };
  readonly evidence: ExpiredRecords;
}

export interface RetentionForecast extends RetentionCounts {
  readonly botId: string;
  readonly botName: string;
}

/** Counts what retention would erase now, or in some days if nothing changes until then; erases nothing. */
@Injectable()
export class RetentionPreview {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly values: DueCounts,
    private readonly evidence: EvidenceRetention,
    private readonly turns: ReportTurns,
    private readonly clock: Clock,
  ) {}

  /** @throws ApiError 409 `report_in_progress` while another report of the bot is made */
  async asReport(botId: string, inDays: number): Promise<RetentionPreviewView> {
    const { generatedAt, due, guilds, evidence } = await this.turns.make(botId, async () => ({
      generatedAt: this.clock.confirmedIso(),
      ...(await this.countsOf(botId, inDays)),
    }));
    return {
      ...{ generated_at: generatedAt, at: daysAfter(generatedAt, inDays), due: [...due], guilds },
      evidence: {
        ledger_entries: evidence.ledgerEntries,
        deletion_requests: evidence.deletionRequests,
        consent_entries: evidence.consentEntries,
        audit_events: evidence.auditEvents,
      },
    };
  }

  /** For each bot, ordered by id. */

  async *ofAllBots(): AsyncGenerator<RetentionForecast> {
    for (let bot = await nextBot(this.unitOfWork, ''); bot !== undefined;) {
      yield { botId: bot.id, botName: bot.name, ...(await this.countsOf(bot.id, 0)) };
      bot = await nextBot(this.unitOfWork, bot.id);
    }
  }

  private async countsOf(botId: string, inDays: number): Promise<RetentionCounts> {
    const guilds = await countDeletions(this.unitOfWork, botId, this.clock.daysAgoIso(-inDays));
    const due = await this.values.of(botId, inDays);
    return { due, guilds, evidence: await this.evidence.expired(botId, inDays) };
  }
}
