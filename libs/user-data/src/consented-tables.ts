import { Inject, Injectable } from '@nestjs/common';
import { AuditService } from '@app/audit';
import { basisOf, restsOnConsent } from '@app/categories';
import { type Actor, JOB } from '@app/http';
import { amongValues, givenRows, type Tx } from '@app/database';
import { type Config, CONFIG, daysAfter } from '@app/kernel';
import {
  amongSubjects,
  type ConsentedDataHolder,
  type ConsentedTable,
  type DecidedConsent,
  type Digest,
  type ErasureTime,
  type HeldRows,
  HoldsConsentedData,
  sameSubject,
  type Subject,
  SUBJECT_WHERE,
  subjectAt,
  SubjectDataHolders,
  subjectName,
  subjectValues,
  withoutIndex,
} from '@app/crypto';
import { categoryOf } from './consented-rows.sql';
import { holdsObjected, holdsUncovered } from './uncovered-rows';

/** The rows that a withdrawal has left and that the job erases: the legal basis can have changed since. */
const isToErase = (one: ConsentedTable): string =>
  `AND ${withoutIndex('withdrawn_at')} <> '' AND ${restsOnConsent(one.table, categoryOf(one))}`;

/** A row keeps an earlier mark. */
const MARK = `withdrawn_at = CASE WHEN given.mark IS NULL THEN NULL ELSE COALESCE(d.withdrawn_at, given.mark) END`;
const GIVEN = ['bot_id', 'guild_id', 'user_id', 'category', 'mark'];

/** When the consent of a row was withdrawn; null for a row that nothing was withdrawn from. */
type Mark = string | null;
/** The new mark of rows that have the mark `since`; undefined where it is unchanged. */
type NewMark = (category: string, since: Mark) => Mark | undefined;

export type ErasureReason = 'retention' | 'consent_revoked';

export type ErasedRow = Pick<Held, 'guild_id' | 'user_id' | 'category'>;

interface Held {
  readonly bot_id: string;
  readonly guild_id: Digest;
  readonly user_id: Digest;
  readonly category: string;
  readonly withdrawn_at: Mark;
}

/**
 * The rows that rest on a consent: their tables are those that the holders of subject data name in `consented`. Marks what a
 * withdrawn consent has left, and takes the mark from what a new one covers. Rows of another legal basis than consent
 * stay unmarked.
 */
@Injectable()
@HoldsConsentedData()
export class ConsentedTables implements ConsentedDataHolder {
  private found: readonly ConsentedTable[] | undefined;

  constructor(
    private readonly holders: SubjectDataHolders,
    private readonly audit: AuditService,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  all(): readonly ConsentedTable[] {
    this.found ??= this.holders.all().flatMap((holder) => holder.consented ?? []);
    return this.found;
  }

  /** The tables that can have rows of a category. */
  of(category: string): readonly ConsentedTable[] {
    return this.all().filter((one) => (one.category ?? category) === category);
  }

  /** No row stays under a category that is no longer declared; each user concerned has an event about it. */
  async eraseCategory(tx: Tx, botId: string, category: string, limit: number, by: Actor): Promise<number> {
    let most = 0;
    for (const one of this.of(category)) {
      const rows = await tx.all<Omit<ErasedRow, 'category'>>(
        `SELECT guild_id, user_id FROM ${one.table} WHERE bot_id = ? AND ${categoryOf(one)} = ? LIMIT ${limit}`,
        ...[botId, category],
      );
      if (rows.length === 0) continue;
      const among = amongSubjects(
        tx,
        rows.map((row) => subjectAt(botId, row)),
      );
      // An erasure can have removed rows since they were read: an event would make a key for its subject again.
      const erased = await tx.all<ErasedRow>(
        `DELETE FROM ${one.table} WHERE ${among.sql} AND ${withoutIndex(categoryOf(one))} = ?
         RETURNING guild_id, user_id, ${categoryOf(one)} AS category`,
        ...[...among.values, category],
      );
      await this.record(tx, botId, erased, { by });
      most = Math.max(most, rows.length);
    }
    return most;
  }

  async eraseOf(tx: Tx, subject: Subject, categories: readonly string[]): Promise<readonly string[]> {
    if (categories.length === 0) return [];
    const erased: string[] = [];
    for (const one of this.all()) {
      const rows = `DELETE FROM ${one.table} WHERE ${SUBJECT_WHERE}`;
      const values = subjectValues(subject);
      if (one.category === undefined) {
        const among = amongValues(tx, withoutIndex('category_key'), categories);
        const keys = await tx.all<{ category_key: string }>(
          `${rows} AND ${among.sql} RETURNING category_key`,
          ...[...values, among.value],
        );
        erased.push(...keys.map(({ category_key: key }) => key));
      } else if (categories.includes(one.category) && (await tx.run(rows, ...values)) > 0)
        erased.push(one.category);
    }
    return erased;
  }

  /** As {@link holdsUncovered} for all but `all`. */
  async holdsCategory(tx: Tx, botId: string, category: string, what: HeldRows): Promise<boolean> {
    for (const one of this.of(category)) {
      const any = `SELECT 1 FROM ${one.table} WHERE bot_id = ? AND ${categoryOf(one)} = ? LIMIT 1`;
      const holds = {
        all: async () => (await tx.get(any, botId, category)) !== undefined,
        objected: () => holdsObjected(tx, one, botId, category),
        uncovered: () => holdsUncovered(tx, one, botId, category, 'uncovered'),
        unmarked: () => holdsUncovered(tx, one, botId, category, 'unmarked'),
      };
      if (await holds[what]()) return true;
    }
    return false;
  }

  withdraw(tx: Tx, withdrawn: readonly DecidedConsent[]): Promise<void> {
    return this.mark(tx, withdrawn, ({ categories, at }) => (key, since) => {
      return since === null && covers(categories, key) ? at : undefined;
    });
  }

  give(tx: Tx, given: readonly DecidedConsent[]): Promise<void> {
    return this.mark(tx, given, ({ categories, at }) => (key, since) => {
      if (covers(categories, key)) return since === null ? undefined : null;
      return since === null ? at : undefined;
    });
  }

  async erasureTimes(tx: Tx, subjects: readonly Subject[]): Promise<readonly ErasureTime[][]> {
    const graceDays = this.config.revokedDataGraceDays;
    if (graceDays === undefined) return [];
    const times = new Map<string, ErasureTime[]>(subjects.map((subject) => [subjectName(subject), []]));
    for (const one of this.all())
      for (const row of await held(tx, one, subjects, isToErase(one)))
        times
          .get(subjectName(subjectAt(row.bot_id, row)))
          ?.push([row.category, daysAfter(row.withdrawn_at ?? '', graceDays)]);
    return [...times.values()];
  }

  /** One `data_deleted` for all erased rows of a subject in a category. */
  async record(
    tx: Tx,
    botId: string,
    erased: readonly ErasedRow[],
    from: ErasureReason | { readonly by: Actor },
  ): Promise<void> {
    const acts = erased.map(({ category, ...row }) => {
      const cause =
        typeof from === 'string'
          ? { details: { category, reason: from }, by: JOB }
          : { details: { category }, ...from };
      return { subject: subjectAt(botId, row), type: 'data_deleted' as const, ...cause };
    });
    const once = new Map(acts.map((act) => [`${subjectName(act.subject)} ${act.details.category}`, act]));
    if (once.size > 0) await this.audit.recordAll(tx, [...once.values()]);
  }

  /** Changes the marks of rows. Only what rests on a consent is marked. */
  private async mark(
    tx: Tx,
    decided: readonly DecidedConsent[],
    markOf: (one: DecidedConsent) => NewMark,
  ): Promise<void> {
    const subjects = decided.map(({ subject }) => subject);
    const of = new Map(decided.map((one) => [subjectName(one.subject), markOf(one)]));
    const bases = new Map<string, ReturnType<typeof basisOf>>();
    for (const one of this.all()) {
      const rows: (string | null)[][] = [];
      for (const { bot_id: botId, guild_id: guildId, user_id: userId, ...row } of await held(
        tx,
        one,
        subjects,
      )) {
        const mark = of.get(subjectName({ botId, guildId, userId }))?.(row.category, row.withdrawn_at);
        if (mark === undefined) continue;
        const name = `${botId} ${row.category}`;
        const basis = bases.get(name) ?? basisOf(tx, botId, row.category);
        bases.set(name, basis);
        if (mark === null || (await basis)?.legalBasis === 'consent')
          rows.push([botId, guildId, userId, row.category, mark]);
      }
      if (rows.length === 0) continue;
      const given = givenRows(tx, GIVEN, rows);
      const isGiven = `${sameSubject('d', 'given')} AND ${withoutIndex(categoryOf(one))} = given.category`;
      await tx.run(
        `UPDATE ${one.table} AS d SET ${MARK} FROM ${given.sql} WHERE ${isGiven}`,
        ...given.values,
      );
    }
  }
}

function covers(categories: readonly string[] | null, key: string): boolean {
  return categories === null || categories.includes(key);
}

/** The marks of the rows of subjects. */
async function held(
  tx: Tx,
  one: ConsentedTable,
  subjects: readonly Subject[],
  condition = '',
): Promise<Held[]> {
  const sql = `SELECT DISTINCT bot_id, guild_id, user_id, ${categoryOf(one)} AS category, withdrawn_at
    FROM ${one.table} WHERE ${SUBJECT_WHERE} ${condition}`;
  return (await tx.each<Held>(sql, subjects.map(subjectValues))).flat();
}
