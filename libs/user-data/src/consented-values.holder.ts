import { Inject, Injectable } from '@nestjs/common';
import { AuditService } from '@app/audit';
import { legalBasisOf } from '@app/categories';
import { givenRows, type Tx } from '@app/database';
import { CONFIG, type Config, daysAfter } from '@app/kernel';
import type { Digest } from '@app/primitives';
import {
  amongSubjects,
  type ConsentedDataHolder,
  type ErasureTime,
  type DecidedConsent,
  HoldsConsentedData,
  type Subject,
  subjectAt,
  subjectName,
} from '@app/subjects';

const SUBJECT = 'bot_id = ? AND guild_id = ? AND user_id = ?';
/** Written so that no engine uses the index of what is marked of all users. */
const IS_MARKED = `COALESCE(withdrawn_at, '') <> ''`;
const OF_CATEGORY = 'SELECT guild_id, user_id FROM user_data WHERE bot_id = ? AND category_key = ?';
const HELD = 'SELECT bot_id, guild_id, user_id, category_key, withdrawn_at FROM user_data WHERE';
const ROW = ['bot_id', 'guild_id', 'user_id', 'category_key'];
/** Written so that no engine uses the index of the category, which has the values of all users. */
const IS_GIVEN = `user_data.bot_id = given.bot_id AND user_data.guild_id = given.guild_id
  AND user_data.user_id = given.user_id AND COALESCE(user_data.category_key, '') = given.category_key`;
const ERASE = `DELETE FROM user_data WHERE ${SUBJECT} AND category_key = ?`;

/**
 * The values as data under a category and a consent. Marks the values that a withdrawn consent has left, and takes the
 * mark from those that a new one covers. Values of another legal basis than consent stay unmarked.
 */
@Injectable()
@HoldsConsentedData()
export class ConsentedValues implements ConsentedDataHolder {
  constructor(
    private readonly audit: AuditService,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** No value stays under a category that is no longer declared; each user concerned has an event about it. */
  async eraseCategory(tx: Tx, botId: string, category: string, limit: number): Promise<number> {
    const rows = await tx.all<{ guild_id: Digest; user_id: Digest }>(
      `${OF_CATEGORY} LIMIT ${limit}`,
      botId,
      category,
    );
    for (const { guild_id: guildId, user_id: userId } of rows)
      await tx.run(ERASE, botId, guildId, userId, category);
    await this.audit.recordAll(
      tx,
      rows.map((row) => ({
        subject: subjectAt(botId, row),
        type: 'data_deleted' as const,
        details: { category },
      })),
    );
    return rows.length;
  }

  withdraw(tx: Tx, withdrawn: readonly DecidedConsent[]): Promise<void> {
    const marks = withdrawn.map(({ subject, categories, at }) => {
      const mark = (key: string, since: string | null) =>
        since === null && covers(categories, key) ? at : undefined;
      return { subject, mark };
    });
    return this.mark(tx, marks);
  }

  give(tx: Tx, given: readonly DecidedConsent[]): Promise<void> {
    const marks = given.map(({ subject, categories, at }) => {
      const mark = (key: string, since: string | null) => {
        if (covers(categories, key)) return since === null ? undefined : null;
        return since === null ? at : undefined;
      };
      return { subject, mark };
    });
    return this.mark(tx, marks);
  }

  async erasureTimes(tx: Tx, subjects: readonly Subject[]): Promise<readonly ErasureTime[][]> {
    const graceDays = this.config.revokedDataGraceDays;
    if (graceDays === undefined) return [];
    const times = new Map<string, ErasureTime[]>(subjects.map((subject) => [subjectName(subject), []]));
    for (const row of await held(tx, subjects, `AND ${IS_MARKED}`))
      times
        .get(subjectName(subjectAt(row.bot_id, row)))
        ?.push([row.category_key, daysAfter(row.withdrawn_at ?? '', graceDays)]);
    return [...times.values()];
  }

  /** Changes the marks of values. Only what rests on a consent is marked. */
  private async mark(tx: Tx, given: readonly Marking[]): Promise<void> {
    const of = new Map(given.map(({ subject, mark }) => [subjectName(subject), mark]));
    const bases = new Map<string, Promise<string | undefined>>();
    const rows: (string | null)[][] = [];
    for (const row of await held(
      tx,
      given.map(({ subject }) => subject),
    )) {
      const { bot_id: botId, guild_id: guildId, user_id: userId, category_key: key } = row;
      const mark = of.get(subjectName({ botId, guildId, userId }))?.(key, row.withdrawn_at);
      if (mark === undefined) continue;
      const name = `${botId} ${key}`;
      const basis = bases.get(name) ?? legalBasisOf(tx, botId, key);
      bases.set(name, basis);
      if (mark === null || (await basis) === 'consent') rows.push([botId, guildId, userId, key, mark]);
    }
    if (rows.length === 0) return;
    const marks = givenRows(tx, [...ROW, 'mark'], rows);
    const sql = `UPDATE user_data SET withdrawn_at = given.mark FROM ${marks.sql} WHERE ${IS_GIVEN}`;
    await tx.run(sql, ...marks.values);
  }
}

/** The new mark of a value that has the mark `since`; undefined where it is unchanged. */
interface Marking {
  readonly subject: Subject;
  readonly mark: (key: string, since: string | null) => string | null | undefined;
}

interface Held {
  readonly bot_id: string;
  readonly guild_id: Digest;
  readonly user_id: Digest;
  readonly category_key: string;
  readonly withdrawn_at: string | null;
}

function covers(categories: readonly string[] | null, key: string): boolean {
  return categories === null || categories.includes(key);
}

/** The values of subjects, by one statement on PostgreSQL. On SQLite a statement for each costs less. */
async function held(tx: Tx, subjects: readonly Subject[], condition = ''): Promise<Held[]> {
  if (tx.engine === 'postgres') {
    const among = amongSubjects(tx, subjects);
    return tx.all(`${HELD} ${among.sql} ${condition}`, ...among.values);
  }
  const rows: Held[] = [];
  for (const subject of subjects)
    rows.push(...(await tx.all<Held>(`${HELD} ${SUBJECT} ${condition}`, ...keyOf(subject))));
  return rows;
}

function keyOf({ botId, guildId, userId }: Subject): string[] {
  return [botId, guildId, userId];
}
