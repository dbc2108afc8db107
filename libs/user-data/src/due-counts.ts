import { setImmediate as nextTurn } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { limitedCategories } from '@app/categories';
import { byIndex, pages, type Tx, UnitOfWork } from '@app/database';
import { Clock, CONFIG, type Config } from '@app/kernel';
import { type ErasureReason, restsOnNoConsent, type WithdrawnFrom } from './due-values';

/** Values read by one statement; requests are answered in between. */
const BATCH = 500;

/** The number of values of a category that a run would erase, and the reason. */
export interface DueCount {
  readonly category: string;
  readonly reason: ErasureReason;
  readonly values: number;
}

interface Place {
  readonly guild_id: string;
  readonly user_id: string;
}

interface Aged extends Place {
  readonly retention_from: string;
  readonly is_due: number;
}

interface Withdrawn extends Place, WithdrawnFrom {
  readonly withdrawn_at: string;
  readonly is_held: number;
}

/** A value of a subject that is being erased is read and not counted, so that each statement reads a batch at most. */
const WITH_CONSENT = `LEFT JOIN consents c
  ON c.bot_id = d.bot_id AND c.guild_id = d.guild_id AND c.user_id = d.user_id AND c.erasing = 0`;

const aged = (tx: Tx): string => `SELECT d.retention_from, d.guild_id, d.user_id,
    CASE WHEN d.updated_at <= ? AND c.bot_id IS NOT NULL THEN 1 ELSE 0 END AS is_due
  FROM user_data d ${byIndex(tx, 'user_data', ['bot_id', 'category_key', 'retention_from'])} ${WITH_CONSENT}
  WHERE d.bot_id = ? AND d.category_key = ? AND d.retention_from <= ? AND (d.retention_from, d.guild_id, d.user_id) > (?, ?, ?)
  ORDER BY d.retention_from, d.guild_id, d.user_id LIMIT ${BATCH}`;

const withdrawn = (
  tx: Tx,
): string => `SELECT d.withdrawn_at, d.guild_id, d.user_id, d.category_key, c.status, c.categories,
    CASE WHEN c.bot_id IS NULL THEN 0 ELSE 1 END AS is_held,
    (SELECT k.legal_basis FROM categories k WHERE k.bot_id = d.bot_id AND k.key = d.category_key) AS legal_basis
  FROM user_data d ${byIndex(tx, 'user_data', ['bot_id', 'withdrawn_at'])} ${WITH_CONSENT}
  WHERE d.bot_id = ? AND d.withdrawn_at <= ? AND (d.withdrawn_at, d.guild_id, d.user_id, d.category_key) > (?, ?, ?, ?)
  ORDER BY d.withdrawn_at, d.guild_id, d.user_id, d.category_key LIMIT ${BATCH}`;

/** Counts the values that the jobs would erase now, or in some days if nothing changes until then. A value that is due for both reasons counts twice. */
@Injectable()
export class DueCounts {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Ordered by category. */
  of(botId: string, inDays = 0): Promise<DueCount[]> {
    return this.unitOfWork.snapshot(async (tx) => {
      const found = [...(await this.aged(tx, botId, inDays)), ...(await this.withdrawn(tx, botId, inDays))];
      return found.filter(({ values }) => values > 0).sort((a, b) => (a.category < b.category ? -1 : 1));
    });
  }

  private async aged(tx: Tx, botId: string, inDays: number): Promise<DueCount[]> {
    const due: DueCount[] = [];
    for (const { key: category, retentionDays } of await limitedCategories(tx, botId)) {
      const before = this.clock.daysAgoIso(retentionDays - inDays);
      const behind = async (last: Aged | undefined): Promise<Aged[]> => {
        await nextTurn();
        const after = [last?.retention_from ?? '', last?.guild_id ?? '', last?.user_id ?? ''];
        return tx.all<Aged>(aged(tx), ...[before, botId, category, before], ...after);
      };
      let values = 0;
      for await (const batch of pages(BATCH, behind)) for (const row of batch) values += row.is_due;
      due.push({ category, reason: 'retention', values });
    }
    return due;
  }

  private async withdrawn(tx: Tx, botId: string, inDays: number): Promise<DueCount[]> {
    const graceDays = this.config.revokedDataGraceDays;
    if (graceDays === undefined) return [];
    const before = this.clock.daysAgoIso(graceDays - inDays);
    const behind = async (last: Withdrawn | undefined): Promise<Withdrawn[]> => {
      await nextTurn();
      const after = [last?.withdrawn_at, last?.guild_id, last?.user_id, last?.category_key];
      return tx.all<Withdrawn>(withdrawn(tx), botId, before, ...after.map((part) => part ?? ''));
    };
    const due = new Map<string, number>();
    for await (const batch of pages(BATCH, behind))
      for (const value of batch)
        if (value.is_held === 1 && restsOnNoConsent(value))
          due.set(value.category_key, (due.get(value.category_key) ?? 0) + 1);
    return [...due].map(([category, values]) => ({ category, reason: 'consent_revoked', values }));
  }
}
