import {
  BOTS_WITH_LIMITS,
  CategoriesService,
  holdRetentionDays,
  limitedCategories,
  restsOnConsent,
} from '@app/categories';
import { consentCovering } from '@app/consent';
import { amongSubjects, type ConsentedTable, subjectAt, subjectName, withoutIndex } from '@app/crypto';
import { type Batches, type BotSweep, PeriodicJob, type SqlPart, type Tx, UnitOfWork } from '@app/database';
import { Clock, type Config, CONFIG, Metrics, NO_METRICS } from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { categoryOf, heldRows } from './consented-rows.sql';
import { ConsentedTables, type ErasedRow, type ErasureReason } from './consented-tables';

/** Rows that one unit looks at: few enough that other units wait only shortly for a locked subject. */
const BATCH = 200;

/** The rows of a bot in one table that can be due for one reason. */
interface Due {
  readonly botId: string;
  readonly one: ConsentedTable;
  readonly reason: ErasureReason;
  /** The category whose time is up; undefined for a withdrawn consent. */
  readonly category?: string;
  /** The category needs no consent: there may be none that locks its subjects. */
  readonly isOpen?: boolean;
  /** What is older is due. */
  readonly before: string;
}

/** The number of rows of a category that the next run would erase, and the reason. */
export interface DueCount {
  readonly category: string;
  readonly reason: ErasureReason;
  readonly values: number;
}

/**
 * Finds, erases and counts what is due in the tables whose rows rest on a consent (GDPR Art. 5(1)(e), 17(1)(b)). A subject
 * locked by another unit is left to a later unit, so that an update or a new consent at the same time is applied
 * completely before or after.
 */
@Injectable()
export class DueData {
  @Inject(Metrics) private readonly metrics: Metrics = NO_METRICS;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly tables: ConsentedTables,
    private readonly categories: CategoriesService,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Erases what is due of a bot. Locked subjects are left to the next run. A fault of one table or category stops no other. */
  async *batches(botId: string, reason: ErasureReason): Batches {
    const faults: unknown[] = [];
    for (const due of await this.find(botId, reason))
      try {
        while ((yield (tx) => this.erase(tx, due)) === BATCH);
      } catch (error) {
        faults.push(error);
      }
    if (faults.length > 0) throw faults[0];
  }

  /** The tables in which rows of a bot have come to their time. */
  private find(botId: string, reason: ErasureReason): Promise<Due[]> {
    return this.unitOfWork.read(async (tx) => {
      const found: Due[] = [];
      for (const due of await this.possible(tx, botId, reason)) {
        const rows = agedRows(due);
        const sql = `SELECT 1 FROM ${due.one.table} d WHERE ${rows.sql} LIMIT 1`;
        if ((await tx.get(sql, ...rows.values)) !== undefined) found.push(due);
      }
      return found;
    });
  }

  /** The first bot after `after` that still has data of a withdrawn consent. */
  async nextBotWithWithdrawn(after: string): Promise<string | undefined> {
    if (this.config.revokedDataGraceDays === undefined) return undefined;
    const found: string[] = [];
    for (const { table } of this.tables.all()) {
      const sql = `SELECT bot_id FROM ${table} WHERE bot_id > ? AND withdrawn_at IS NOT NULL ORDER BY bot_id LIMIT 1`;
      const row = await this.unitOfWork.get<{ bot_id: string }>(sql, after);
      if (row !== undefined) found.push(row.bot_id);
    }
    return found.sort()[0];
  }

  /**
   * Looks at up to {@link BATCH} rows, and erases everything that is due of their subjects, so that a new consent finds all of the
   * data of a subject or none. Rows that are not due after all are found again at their time only. Returns the number of
   * rows that it looked at.
   */
  async erase(tx: Tx, found: Due): Promise<number> {
    const due = await this.held(tx, found);
    if (due === undefined) return 0;
    const { botId, one, reason } = due;
    const rows = agedRows(due);
    const held = heldRows(due.isOpen);
    const looked = await tx.all<Omit<ErasedRow, 'category'>>(
      `SELECT d.guild_id, d.user_id FROM ${one.table} d ${held.sql} AND ${rows.sql}
       ORDER BY d.${sinceOf(due)} LIMIT ${BATCH} FOR UPDATE OF ${held.lock} SKIP LOCKED`,
      ...rows.values,
    );
    if (looked.length === 0) return 0;
    const subjects = looked.map((row) => subjectAt(botId, row));
    const unique = new Map(subjects.map((subject) => [subjectName(subject), subject]));
    const among = amongSubjects(tx, [...unique.values()]);
    const theirs = agedRows(due, hidden);
    const is = isDue(tx, due);
    const erased = await tx.all<ErasedRow>(
      `DELETE FROM ${one.table} AS d WHERE ${among.sql} AND ${theirs.sql} AND ${is.sql}
       RETURNING guild_id, user_id, ${categoryOf(one)} AS category`,
      ...[...among.values, ...theirs.values, ...is.values],
    );
    const keep = reason === 'retention' ? `${sinceOf(due)} = updated_at` : 'withdrawn_at = NULL';
    await tx.run(
      `UPDATE ${one.table} AS d SET ${keep} WHERE ${among.sql} AND ${theirs.sql}`,
      ...[...among.values, ...theirs.values],
    );
    await this.tables.record(tx, botId, erased, reason);
    if (erased.length > 0) tx.afterCommit(() => this.metrics.count('retention', reason, erased.length));
    return looked.length;
  }

  /** What the next runs would erase, ordered by category. A row that is due for both reasons counts twice. */
  counts(botId: string): Promise<DueCount[]> {
    return this.unitOfWork.snapshot(async (tx) => {
      const found = new Map<string, DueCount>();
      for (const reason of ['retention', 'consent_revoked'] as const)
        for (const due of await this.possible(tx, botId, reason)) {
          const [rows, is] = [agedRows(due), isDue(tx, due)];
          const counted = await tx.all<{ category: string; total: number }>(
            `SELECT ${categoryOf(due.one)} AS category, COUNT(*) AS total FROM ${due.one.table} d ${heldRows(due.isOpen).sql}
               AND ${rows.sql} AND ${is.sql} GROUP BY 1`,
            ...[...rows.values, ...is.values],
          );
          for (const { category, total } of counted) {
            const name = `${category} ${reason}`;
            const values = (found.get(name)?.values ?? 0) + total;
            found.set(name, { category, reason, values });
          }
        }
      return [...found.values()].sort((a, b) => (a.category < b.category ? -1 : 1));
    });
  }

  private async possible(tx: Tx, botId: string, reason: ErasureReason): Promise<Due[]> {
    if (reason === 'consent_revoked') {
      const { revokedDataGraceDays: days } = this.config;
      if (days === undefined) return [];
      return this.tables.all().map((one) => ({ botId, one, reason, before: this.clock.daysAgoIso(days) }));
    }
    return (await limitedCategories(tx, botId)).flatMap(
      ({ key: category, retentionDays, requiresConsent }) => {
        const before = this.clock.daysAgoIso(retentionDays);
        return this.tables
          .of(category)
          .map((one) => ({ botId, one, reason, category, before, isOpen: !requiresConsent }));
      },
    );
  }

  /** What is due by the `retention_days` of now. No category is deleted until the unit ends: its rows are locked first. */
  private async held(tx: Tx, due: Due): Promise<Due | undefined> {
    if (due.category === undefined) {
      await this.categories.keysOf(tx, due.botId, 'FOR KEY SHARE');
      return due;
    }
    const days = await holdRetentionDays(tx, due.botId, due.category);
    return days === undefined ? undefined : { ...due, before: this.clock.daysAgoIso(days) };
  }
}

/** The indexed column that says since when a row can be due. */
function sinceOf({ reason, one }: Due): string {
  return reason === 'retention' ? (one.agedBy ?? 'updated_at') : 'withdrawn_at';
}

const indexed = (column: string): string => `d.${column}`;
/** '9' sorts after every ISO time, so that a row without a time is never due. */
const hidden = (column: string): string => withoutIndex(`d.${column}`, '9');

/** The rows whose time has come. Rows of one subject are found by its primary key alone. */
function agedRows(due: Due, written = indexed): SqlPart {
  const { botId, one, category, before } = due;
  const ofBot = written === indexed ? { sql: 'd.bot_id = ? AND ', values: [botId] } : { sql: '', values: [] };
  const since = `${written(sinceOf(due))} <= ?`;
  if (category === undefined || one.category !== undefined)
    return { sql: `${ofBot.sql}${since}`, values: [...ofBot.values, before] };
  return {
    sql: `${ofBot.sql}${written('category_key')} = ? AND ${since}`,
    values: [...ofBot.values, category, before],
  };
}

/** Checked again: an update moves the age, the legal basis can have changed, and another process can have accepted a new consent. */
function isDue({ engine }: Tx, { reason, one, before }: Due): SqlPart {
  if (reason === 'retention') return { sql: `${hidden('updated_at')} <= ?`, values: [before] };
  const category = categoryOf(one);
  const { exists } = consentCovering(engine, 'd', category);
  return { sql: `${restsOnConsent('d', category)} AND NOT ${exists}`, values: [] };
}

/** Erases data older than the present `retention_days` of its category, also what became due during a downtime. */
@PeriodicJob({ lookEveryMs: 60_000 })
@Injectable()
export class CategoryRetention implements BotSweep {
  readonly name = 'category-retention';
  readonly everyMs = 3_600_000;

  readonly bots = BOTS_WITH_LIMITS;

  constructor(private readonly data: DueData) {}

  batches(botId: string): Batches {
    return this.data.batches(botId, 'retention');
  }
}

/**
 * Erases what a withdrawn consent has left `REVOKED_DATA_GRACE_DAYS` after the withdrawal, within a minute, or at the next
 * start; never with the setting `off`.
 */
@PeriodicJob({ lookEveryMs: 15_000 })
@Injectable()
export class WithdrawnDataErasure implements BotSweep {
  readonly name = 'withdrawn-data';
  readonly everyMs = 30_000;

  constructor(private readonly data: DueData) {}

  readonly bots = (after: string): Promise<string | undefined> => this.data.nextBotWithWithdrawn(after);

  batches(botId: string): Batches {
    return this.data.batches(botId, 'consent_revoked');
  }
}
