import { Inject, Injectable } from '@nestjs/common';
import { AuditService } from '@app/audit';
import { holdRetentionDays } from '@app/categories';
import { ConsentScope } from '@app/consent';
import type { Tx } from '@app/database';
import { Clock, CONFIG, type Config } from '@app/kernel';
import { Metrics, NO_METRICS } from '@app/metrics';
import type { Digest } from '@app/primitives';
import { SUBJECT_WHERE, subjectAt } from '@app/subjects';

/** Values read by one unit: few enough that other units wait only shortly for a locked subject. */
export const BATCH = 200;

export type ErasureReason = 'retention' | 'consent_revoked';

interface Value {
  readonly guild_id: Digest;
  readonly user_id: Digest;
  readonly category_key: string;
}

interface Aged extends Value {
  readonly updated_at: string;
}

/** The facts that decide about a value of a withdrawn consent. */
export interface WithdrawnFrom {
  readonly category_key: string;
  readonly status: 'none' | 'pending' | 'accepted' | 'revoked';
  readonly categories: string | null;
  readonly legal_basis: string | null;
}

type Withdrawn = Value & WithdrawnFrom;

/** Locks the consent of the subject with each value, as every writer does; locked rows are skipped. */
const HELD = `FROM user_data d CROSS JOIN consents c
  WHERE c.bot_id = d.bot_id AND c.guild_id = d.guild_id AND c.user_id = d.user_id AND c.erasing = 0 AND d.bot_id = ?`;
const AGED = `SELECT d.guild_id, d.user_id, d.category_key, d.updated_at ${HELD}
  AND d.category_key = ? AND d.retention_from <= ? ORDER BY d.retention_from LIMIT ${BATCH} FOR UPDATE SKIP LOCKED`;
const WITHDRAWN = `SELECT d.guild_id, d.user_id, d.category_key, c.status, c.categories,
    (SELECT k.legal_basis FROM categories k WHERE k.bot_id = d.bot_id AND k.key = d.category_key) AS legal_basis ${HELD}
  AND d.withdrawn_at <= ?`;
const SOME_WITHDRAWN = `${WITHDRAWN} ORDER BY d.withdrawn_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED`;
const WITHDRAWN_OF_SUBJECT = `${WITHDRAWN} AND d.guild_id = ? AND d.user_id = ? FOR UPDATE SKIP LOCKED`;

const KEY = `${SUBJECT_WHERE} AND category_key = ?`;
const ERASE = `DELETE FROM user_data WHERE ${KEY}`;
const KEEP_AGED = `UPDATE user_data SET retention_from = updated_at WHERE ${KEY}`;
const KEEP_WITHDRAWN = `UPDATE user_data SET withdrawn_at = NULL WHERE ${KEY}`;

/**
 * Erases values that are due (GDPR Art. 5(1)(e), 17(1)(b)), about {@link BATCH} in a unit, each with a `data_deleted`
 * event. A value locked by another unit is left to a later unit, so that an update or a new consent at the same time
 * is applied completely before or after.
 */
@Injectable()
export class DueValues {
  @Inject(Metrics) private readonly metrics: Metrics = NO_METRICS;

  constructor(
    private readonly audit: AuditService,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * Erases values not updated for the `retention_days` of their category, which is locked until the unit ends. Answers the
   * number of values it has read.
   */
  async eraseAged(tx: Tx, botId: string, category: string): Promise<number> {
    const days = await holdRetentionDays(tx, botId, category);
    if (days === undefined) return 0;
    const before = this.clock.daysAgoIso(days);
    const values = await tx.all<Aged>(AGED, botId, category, before);
    const isDue = (value: Aged): boolean => value.updated_at <= before;
    await this.settle(tx, botId, values, isDue, KEEP_AGED, 'retention');
    return values.length;
  }

  /**
   * Erases values whose consent was withdrawn `REVOKED_DATA_GRACE_DAYS` ago and not given again. Answers the number of
   * values it has read.
   */
  async eraseWithdrawn(tx: Tx, botId: string): Promise<number> {
    const graceDays = this.config.revokedDataGraceDays;
    if (graceDays === undefined) return 0;
    const before = this.clock.daysAgoIso(graceDays);
    const values = await tx.all<Withdrawn>(SOME_WITHDRAWN, botId, before);
    const whole = values.length < BATCH ? values : await this.wholeSubjects(tx, botId, before, values);
    await this.settle(tx, botId, whole, restsOnNoConsent, KEEP_WITHDRAWN, 'consent_revoked');
    return values.length;
  }

  /** Completes the last subject of a full batch, so that a new consent finds all of its values or none. */
  private async wholeSubjects(
    tx: Tx,
    botId: string,
    before: string,
    values: readonly Withdrawn[],
  ): Promise<Withdrawn[]> {
    const subjects = new Map(values.map((value) => [`${value.guild_id}/${value.user_id}`, value]));
    const found = await Promise.all(
      [...subjects.values()].map(({ guild_id: guildId, user_id: userId }) =>
        tx.all<Withdrawn>(WITHDRAWN_OF_SUBJECT, botId, before, guildId, userId),
      ),
    );
    return found.flat();
  }

  private async settle<V extends Value>(
    tx: Tx,
    botId: string,
    values: readonly V[],
    isDue: (value: V) => boolean,
    keep: string,
    reason: ErasureReason,
  ): Promise<void> {
    const due = values.filter(isDue);
    await Promise.all(
      values.map((value) =>
        tx.run(isDue(value) ? ERASE : keep, ...[botId, value.guild_id, value.user_id, value.category_key]),
      ),
    );
    if (due.length === 0) return;
    await this.audit.recordAll(
      tx,
      due.map((value) => ({
        subject: subjectAt(botId, value),
        type: 'data_deleted' as const,
        details: { category: value.category_key, reason },
      })),
    );
    tx.afterCommit(() => this.metrics.count('retention', reason, due.length));
  }
}

/** Checked again: the legal basis can have changed, and another process can have accepted a new consent. */
export function restsOnNoConsent(value: WithdrawnFrom): boolean {
  if (value.legal_basis !== 'consent') return false;
  return value.status !== 'accepted' || !new ConsentScope(value).covers(value.category_key);
}
