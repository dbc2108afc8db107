import { Inject, Injectable } from '@nestjs/common';
import { AuditService } from '@app/audit';
import { declaredPurposes } from '@app/categories';
import { consentHeld } from '@app/consent';
import { type Tx } from '@app/database';
import { Clock, CONFIG, type Config, daysAfter } from '@app/kernel';
import { Metrics, NO_METRICS } from '@app/metrics';
import type { Digest } from '@app/primitives';
import {
  type ConsentedDataHolder,
  type ConsentedTable,
  type ErasureTime,
  type DecidedConsent,
  HoldsConsentedData,
  type Subject,
  subjectAt,
  SubjectDataHolders,
} from '@app/subjects';
import type { ErasureReason } from './due-values';

/** Subjects that one unit looks at. */
const BATCH = 200;

const SUBJECT = 'bot_id = ? AND guild_id = ? AND user_id = ?';

/** The column that says since when a row is due, for each reason. */
const SINCE = { retention: 'updated_at', consent_revoked: 'withdrawn_at' } as const satisfies Record<
  ErasureReason,
  string
>;

/** A place in the order of the subjects of a bot. */
export interface Place {
  readonly guild_id: Digest;
  readonly user_id: Digest;
}

export const BEGIN: Place = { guild_id: '' as Digest, user_id: '' as Digest };

/**
 * The rows of other modules that rest on a consent: their tables are those that the holders of subject data name in
 * `consented`. Rows are marked, erased and recorded by subject: one `data_deleted` for all rows of a subject in a table.
 */
@Injectable()
@HoldsConsentedData()
export class ConsentedTables implements ConsentedDataHolder {
  @Inject(Metrics) private readonly metrics: Metrics = NO_METRICS;

  constructor(
    private readonly holders: SubjectDataHolders,
    private readonly audit: AuditService,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  all(): readonly ConsentedTable[] {
    return this.holders.all().flatMap((holder) => holder.consented ?? []);
  }

  async eraseCategory(tx: Tx, botId: string, category: string, limit: number): Promise<number> {
    let most = 0;
    for (const { table } of this.all().filter((one) => one.category === category)) {
      const found = await tx.all<Place>(
        `SELECT DISTINCT guild_id, user_id FROM ${table} WHERE bot_id = ? LIMIT ${limit}`,
        botId,
      );
      const subjects = found.map((place) => subjectAt(botId, place));
      for (const subject of subjects)
        await tx.run(`DELETE FROM ${table} WHERE ${SUBJECT}`, ...keyOf(subject));
      await this.record(tx, subjects, { category });
      most = Math.max(most, found.length);
    }
    return most;
  }

  async withdraw(tx: Tx, withdrawn: readonly DecidedConsent[]): Promise<void> {
    for (const one of this.all())
      for (const { subject, categories, at } of withdrawn)
        if (categories === null || categories.includes(one.category)) await mark(tx, subject, one, at);
  }

  async give(tx: Tx, given: readonly DecidedConsent[]): Promise<void> {
    for (const one of this.all())
      for (const { subject, categories, at } of given) {
        if (categories === null || categories.includes(one.category)) await unmark(tx, subject, one);
        else await mark(tx, subject, one, at);
      }
  }

  async erasureTimes(tx: Tx, subjects: readonly Subject[]): Promise<readonly ErasureTime[][]> {
    const graceDays = this.config.revokedDataGraceDays;
    if (graceDays === undefined) return [];
    const times = subjects.map((): ErasureTime[] => []);
    for (const { table, category } of this.all()) {
      const sql = `SELECT MAX(withdrawn_at) AS at FROM ${table} WHERE ${SUBJECT}`;
      for (const [place, subject] of subjects.entries()) {
        const row = await tx.get<{ at: string | null }>(sql, ...keyOf(subject));
        if (row?.at != null) times[place]?.push([category, daysAfter(row.at, graceDays)]);
      }
    }
    return times;
  }

  /** Whether a table has rows of a bot that are due now. */
  async isDue(tx: Tx, botId: string, one: ConsentedTable, reason: ErasureReason): Promise<boolean> {
    const before = await this.dueBefore(tx, botId, one, reason);
    if (before === undefined) return false;
    const sql = `SELECT 1 FROM ${one.table} WHERE bot_id = ? AND ${SINCE[reason]} <= ? LIMIT 1`;
    return (await tx.get(sql, botId, before)) !== undefined;
  }

  /**
   * Erases what is due of some subjects behind `after`, each under the lock of its consent. A subject that another unit
   * has locked is left to a later run. Answers where to continue; undefined after the last one.
   */
  async eraseDue(
    tx: Tx,
    botId: string,
    one: ConsentedTable,
    reason: ErasureReason,
    after: Place,
  ): Promise<Place | undefined> {
    const before = await this.dueBefore(tx, botId, one, reason);
    if (before === undefined) return undefined;
    const { table, category } = one;
    const due = `${SINCE[reason]} <= ?`;
    const found = await tx.all<Place>(
      `SELECT DISTINCT guild_id, user_id FROM ${table} WHERE bot_id = ? AND ${due} AND (guild_id, user_id) > (?, ?)
       ORDER BY guild_id, user_id LIMIT ${BATCH}`,
      ...[botId, before, after.guild_id, after.user_id],
    );
    const rests = reason === 'consent_revoked' && (await restsOnConsent(tx, botId, category));
    const erased: Subject[] = [];
    let rows = 0;
    for (const place of found) {
      const subject = subjectAt(botId, place);
      const consent = await consentHeld(tx, subject);
      if (consent === undefined) continue;
      if (reason === 'consent_revoked' && (!rests || consent.covers(category))) {
        await unmark(tx, subject, one);
        continue;
      }
      const gone = await tx.run(
        `DELETE FROM ${table} WHERE ${SUBJECT} AND ${due}`,
        ...keyOf(subject),
        before,
      );
      if (gone > 0) erased.push(subject);
      rows += gone;
    }
    await this.record(tx, erased, { category, reason });
    if (rows > 0) tx.afterCommit(() => this.metrics.count('retention', reason, rows));
    return found.length < BATCH ? undefined : found.at(-1);
  }

  /** Rows from before this time are due; undefined where none ever is. */
  private async dueBefore(
    tx: Tx,
    botId: string,
    { category }: ConsentedTable,
    reason: ErasureReason,
  ): Promise<string | undefined> {
    const [declared] = reason === 'retention' ? await declaredPurposes(tx, botId, [category], 1) : [];
    const days = reason === 'retention' ? declared?.retentionDays : this.config.revokedDataGraceDays;
    return days == null ? undefined : this.clock.daysAgoIso(days);
  }

  private async record(tx: Tx, subjects: readonly Subject[], details: object): Promise<void> {
    if (subjects.length === 0) return;
    await this.audit.recordAll(
      tx,
      subjects.map((subject) => ({ subject, type: 'data_deleted' as const, details })),
    );
  }
}

/** One that was marked before keeps its time. */
async function mark(tx: Tx, subject: Subject, { table, category }: ConsentedTable, at: string) {
  if (!(await restsOnConsent(tx, subject.botId, category))) return;
  const sql = `UPDATE ${table} SET withdrawn_at = ? WHERE ${SUBJECT} AND withdrawn_at IS NULL`;
  await tx.run(sql, at, ...keyOf(subject));
}

async function unmark(tx: Tx, subject: Subject, { table }: ConsentedTable): Promise<void> {
  const sql = `UPDATE ${table} SET withdrawn_at = NULL WHERE ${SUBJECT} AND COALESCE(withdrawn_at, '') <> ''`;
  await tx.run(sql, ...keyOf(subject));
}

async function restsOnConsent(tx: Tx, botId: string, category: string): Promise<boolean> {
  const [declared] = await declaredPurposes(tx, botId, [category], 1);
  return declared?.legalBasis === 'consent';
}

function keyOf({ botId, guildId, userId }: Subject): string[] {
  return [botId, guildId, userId];
}
