import { setImmediate as nextTurn } from 'node:timers/promises';
import { storedWithoutConsent } from '@app/categories';
import { consentCovering } from '@app/consent';
import {
  type Digest,
  type JoinedKey,
  type Subject,
  SUBJECT_WHERE,
  subjectKeyJoin,
  subjectValues,
} from '@app/crypto';
import type { Engine, Tx, UnitOfWork } from '@app/database';
import { isUnrestricted } from './processing-refusals.sql';

/** Values counted by one statement; requests are answered in between. */
const COUNTED = 5_000;

/** One category of all subjects of a guild. */
export interface GuildCategory {
  readonly botId: string;
  readonly guildId: Digest;
  readonly category: string;
  readonly requiresConsent: boolean;
}

/** The beginning of a page: after the user `after`, and after `skipped` further values that a consent covers. */
export interface PageStart {
  readonly after: string;
  readonly skipped: number;
}

/** A value with the key of its subject. */
export type FoundValue = JoinedKey & {
  readonly user_id: Digest;
  readonly value: string;
  readonly updated_at: string;
};

/** A value of one subject. */
export interface SubjectValue {
  readonly category_key: string;
  readonly value: string;
  readonly updated_at: string;
  /** 1 under a category that needs no consent. */
  readonly open: number | null;
}

const OF_GUILD = 'held.bot_id = ? AND held.guild_id = ? AND held.category_key = ? AND held.user_id > ?';
const KEY = subjectKeyJoin('held');

/** `isOpen`: of a category that needs no consent. */
const countSql = (engine: Engine, isOpen: boolean): string => {
  const { join, condition: covered, open } = consentCovering(engine, 'found');
  const condition = `${isOpen ? open : covered} AND ${isUnrestricted('found')}`;
  return `SELECT COUNT(*) AS looked, COUNT(CASE WHEN ${condition} THEN 1 END) AS covered, MAX(found.user_id) AS last
    FROM (SELECT bot_id, guild_id, user_id, category_key FROM user_data held WHERE ${OF_GUILD}
      ORDER BY held.user_id LIMIT ${COUNTED}) found LEFT ${join}`;
};

const pageSql = (engine: Engine, isOpen: boolean): string => {
  const { join: joined, condition: covered, open } = consentCovering(engine, 'held');
  const [join, condition] = isOpen ? [`LEFT ${joined}`, open] : [joined, covered];
  return `SELECT held.user_id, held.value, held.updated_at, ${KEY.columns} FROM user_data held ${join} ${KEY.join}
    WHERE ${OF_GUILD} AND ${condition} AND ${isUnrestricted('held')}
    ORDER BY held.user_id LIMIT ? OFFSET ?`;
};

const forBoth = (sql: typeof countSql, isOpen: boolean) => ({
  sqlite: sql('sqlite', isOpen),
  postgres: sql('postgres', isOpen),
});
const COVERED = { count: forBoth(countSql, false), page: forBoth(pageSql, false) };
const OPEN = { count: forBoth(countSql, true), page: forBoth(pageSql, true) };

const OF_SUBJECT = `SELECT category_key, value, updated_at, ${storedWithoutConsent('user_data', 'category_key')} AS open
  FROM user_data WHERE ${SUBJECT_WHERE}`;

/** The first `limit` categories of a subject with values, by key. */
export async function storedKeys(tx: Tx, subject: Subject, limit: number): Promise<string[]> {
  const sql = `SELECT category_key FROM user_data WHERE ${SUBJECT_WHERE} ORDER BY category_key LIMIT ${limit}`;
  const rows = await tx.all<Pick<SubjectValue, 'category_key'>>(sql, ...subjectValues(subject));
  return rows.map(({ category_key: key }) => key);
}

/**
 * Counts the values that a consent in force covers, or that need none, and that no restriction keeps back; finds the page after the
 * first `offset` of them. Each part of a count has a snapshot of its own: a large guild holds back no other long read.
 */
export async function findPage(
  unitOfWork: Pick<UnitOfWork, 'snapshot'>,
  of: GuildCategory,
  offset: number,
): Promise<PageStart & { readonly total: number }> {
  let [total, after, start] = [0, '', { after: '', skipped: 0 }];
  for (let looked = COUNTED; looked === COUNTED; await nextTurn()) {
    const values = [of.botId, of.guildId, of.category, after];
    const counted = await unitOfWork.snapshot((tx) =>
      tx.get<{ looked: number; covered: number; last: string | null }>(
        (of.requiresConsent ? COVERED : OPEN).count[tx.engine],
        ...values,
      ),
    );
    if (total <= offset) start = { after, skipped: offset - total };
    looked = counted?.looked ?? 0;
    total += counted?.covered ?? 0;
    after = counted?.last ?? after;
  }
  return { total, ...start };
}

/** The values of one page, in the order of the stored ids of their users. */
export function pageOf(
  tx: Tx,
  of: GuildCategory,
  { after, skipped }: PageStart,
  limit: number,
): Promise<FoundValue[]> {
  const { page } = of.requiresConsent ? COVERED : OPEN;
  return tx.all(page[tx.engine], ...[of.botId, of.guildId, of.category, after, limit, skipped]);
}

/** The values of one subject in one category, or in all of them by key. */
export function valuesOf(
  tx: Tx,
  { botId, guildId, userId }: Subject,
  category?: string,
): Promise<SubjectValue[]> {
  if (category === undefined) return tx.all(`${OF_SUBJECT} ORDER BY category_key`, botId, guildId, userId);
  return tx.all(`${OF_SUBJECT} AND category_key = ?`, botId, guildId, userId, category);
}

/** Records counted by one statement; requests are answered in between. */
const RECORDS_COUNTED = 10_000;
const PLACE = '(guild_id, user_id, category_key)';
const AFTER = `bot_id = ? AND ${PLACE} > (?, ?, ?)`;
const RECORD_BOUND = `SELECT guild_id, user_id, category_key FROM user_data WHERE ${AFTER}
  ORDER BY guild_id, user_id, category_key LIMIT 1 OFFSET ${RECORDS_COUNTED - 1}`;
const RECORD_COUNT = `SELECT category_key, COUNT(*) AS held,
    COUNT(CASE WHEN updated_at >= ? AND updated_at < ? THEN 1 END) AS touched
  FROM user_data WHERE ${AFTER} AND ${PLACE} <= (?, ?, ?) GROUP BY category_key`;
/** Greater than every digest. */
const END = ['~', '', ''];

/** The number of records, and of those whose last change was in a period. */
interface RecordCounts {
  readonly held: number;
  readonly touched: number;
}

/**
 * Counts the records of a bot by category: a record is the value of one subject in one category. The period includes `from`
 * and excludes `to`.
 */
export async function countRecords(
  tx: Tx,
  { botId, from, to }: { readonly botId: string; readonly from: string; readonly to: string },
): Promise<ReadonlyMap<string, RecordCounts>> {
  const counts = new Map<string, RecordCounts>();
  for (let after = ['', '', '']; after !== END; await nextTurn()) {
    const bound = await tx.get<Record<'guild_id' | 'user_id' | 'category_key', string>>(
      RECORD_BOUND,
      ...[botId, ...after],
    );
    const until = bound === undefined ? END : [bound.guild_id, bound.user_id, bound.category_key];
    const rows = await tx.all<RecordCounts & { category_key: string }>(
      RECORD_COUNT,
      ...[from, to, botId, ...after, ...until],
    );
    for (const { category_key: category, held, touched } of rows) {
      const before = counts.get(category) ?? { held: 0, touched: 0 };
      counts.set(category, { held: before.held + held, touched: before.touched + touched });
    }
    after = until;
  }
  return counts;
}

/** The number of values of one bot, counted up to `max`. */
export async function countValuesOf(tx: Tx, botId: string, max: number): Promise<number> {
  const sql = 'SELECT COUNT(*) AS total FROM (SELECT 1 FROM user_data WHERE bot_id = ? LIMIT ?) found';
  return (await tx.get<{ total: number }>(sql, botId, max))?.total ?? 0;
}
