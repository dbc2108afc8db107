import { Inject, Injectable } from '@nestjs/common';
import { limitedCategories } from '@app/categories';
import { type Tx, UnitOfWork } from '@app/database';
import { Clock, CONFIG, type Config } from '@app/kernel';
import { type ErasureReason, restsOnNoConsent, type WithdrawnFrom } from './due-values';

/** The number of values of a category that the next run would erase, and the reason. */
export interface DueCount {
  readonly category: string;
  readonly reason: ErasureReason;
  readonly values: number;
}

type Counted = WithdrawnFrom & { readonly total: number | string };

const HELD = `FROM user_data d CROSS JOIN consents c
  WHERE c.bot_id = d.bot_id AND c.guild_id = d.guild_id AND c.user_id = d.user_id AND c.erasing = 0 AND d.bot_id = ?`;

/** Counts the values that the jobs would erase now. A value that is due for both reasons counts twice. */
@Injectable()
export class DueCounts {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Ordered by category. */
  of(botId: string): Promise<DueCount[]> {
    return this.unitOfWork.snapshot(async (tx) => {
      const found = [...(await this.aged(tx, botId)), ...(await this.withdrawn(tx, botId))];
      return found.filter(({ values }) => values > 0).sort((a, b) => (a.category < b.category ? -1 : 1));
    });
  }

  private async aged(tx: Tx, botId: string): Promise<DueCount[]> {
    const due: DueCount[] = [];
    for (const { key: category, retentionDays } of await limitedCategories(tx, botId)) {
      const before = this.clock.daysAgoIso(retentionDays);
      const row = await tx.get<{ total: number | string }>(
        `SELECT COUNT(*) AS total ${HELD} AND d.category_key = ? AND d.retention_from <= ? AND d.updated_at <= ?`,
        ...[botId, category, before, before],
      );
      due.push({ category, reason: 'retention', values: Number(row?.total ?? 0) });
    }
    return due;
  }

  private async withdrawn(tx: Tx, botId: string): Promise<DueCount[]> {
    const graceDays = this.config.revokedDataGraceDays;
    if (graceDays === undefined) return [];
    const counted = await tx.all<Counted>(
      `SELECT d.category_key, c.status, c.categories,
         (SELECT k.legal_basis FROM categories k WHERE k.bot_id = d.bot_id AND k.key = d.category_key) AS legal_basis,
         COUNT(*) AS total ${HELD} AND d.withdrawn_at <= ?
       GROUP BY d.bot_id, d.category_key, c.status, c.categories`,
      ...[botId, this.clock.daysAgoIso(graceDays)],
    );
    const due = new Map<string, number>();
    for (const { category_key: category, total, ...from } of counted)
      if (restsOnNoConsent({ category_key: category, ...from }))
        due.set(category, (due.get(category) ?? 0) + Number(total));
    return [...due].map(([category, values]) => ({ category, reason: 'consent_revoked', values }));
  }
}
