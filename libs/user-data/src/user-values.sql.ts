import { setImmediate as nextTurn } from 'node:timers/promises';
import { storedWithoutConsent } from '@app/categories';
import { consentCovering } from '@app/consent';
import {
  type Digest,
  givenSubjects,
  type JoinedKey,
  sameSubject,
  type Subject,
  SUBJECT_WHERE,
  subjectKeyJoin,
  subjectValues,
  withoutIndex,
} from '@app/crypto';
import type { Tx } from '@app/database';
import type { CountedPart } from '@app/http';
import { isUnrestricted } from './processing-refusals.sql';

/** Values that one statement looks at, whatever is shown of them; requests are answered in between. */
const LOOKED_AT = 1_000;

/** One category of all subjects of a guild. */
export interface GuildCategory {
  readonly botId: string;
  readonly guildId: Digest;
  readonly category: string;
  readonly requiresConsent: boolean;
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

/** Those of some values that a consent in force covers, or that need none, and that no restriction keeps back. */
const shownAmong = ({ engine }: Tx, { requiresConsent }: GuildCategory) => {
  const { join, condition, open } = consentCovering(engine, 'found');
  return {
    shown: `${requiresConsent ? condition : open} AND ${isUnrestricted('found')}`,
    some: `FROM (SELECT bot_id, guild_id, user_id, category_key FROM user_data held WHERE ${OF_GUILD}
      ORDER BY held.user_id LIMIT ${LOOKED_AT}) found LEFT ${join}`,
  };
};

const OF_SUBJECT = `SELECT category_key, value, updated_at, ${storedWithoutConsent('user_data', 'category_key')} AS open
  FROM user_data WHERE ${SUBJECT_WHERE}`;

/** The first `limit` categories of a subject with values, by key. */
export async function storedKeys(tx: Tx, subject: Subject, limit: number): Promise<string[]> {
  const sql = `SELECT category_key FROM user_data WHERE ${SUBJECT_WHERE} ORDER BY category_key LIMIT ${limit}`;
  const rows = await tx.all<Pick<SubjectValue, 'category_key'>>(sql, ...subjectValues(subject));
  return rows.map(({ category_key: key }) => key);
}

const valuesFrom = ({ botId, guildId, category }: GuildCategory, after: string): string[] => [
  ...[botId, guildId, category, after],
];

/** How many of some values behind the user `after` are shown, and the last user that was looked at; undefined at the end. */
export async function countSome(tx: Tx, of: GuildCategory, after: string): Promise<CountedPart> {
  const { shown, some } = shownAmong(tx, of);
  const found = await tx.get<{ looked: number; shown: number; last: string | null }>(
    `SELECT COUNT(*) AS looked, COUNT(CASE WHEN ${shown} THEN 1 END) AS shown, MAX(found.user_id) AS last ${some}`,
    ...valuesFrom(of, after),
  );
  const isLast = Number(found?.looked ?? 0) < LOOKED_AT;
  return { shown: Number(found?.shown ?? 0), next: isLast ? undefined : (found?.last ?? undefined) };
}

/** Values that are shown, in the order of the stored ids of their users, among those that {@link countSome} looks at. */
export async function someValues(
  tx: Tx,
  of: GuildCategory,
  after: string,
  skip: number,
  take: number,
): Promise<FoundValue[]> {
  const { shown, some } = shownAmong(tx, of);
  const found = await tx.all<{ user_id: Digest }>(
    `SELECT found.user_id ${some} WHERE ${shown} ORDER BY found.user_id LIMIT ? OFFSET ?`,
    ...valuesFrom(of, after),
    take,
    skip,
  );
  const given = givenSubjects(
    tx,
    found.map(({ user_id: userId }) => ({ ...of, userId })),
  );
  return tx.all(
    `SELECT held.user_id, held.value, held.updated_at, ${KEY.columns} FROM ${given.sql}
     JOIN user_data held ON ${sameSubject('held', 'given')} AND ${withoutIndex('held.category_key')} = ? ${KEY.join}
     ORDER BY held.user_id`,
    ...[...given.values, of.category],
  );
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
export function countValuesOf(tx: Tx, botId: string, max: number): Promise<number> {
  const sql = 'SELECT COUNT(*) AS total FROM (SELECT 1 FROM user_data WHERE bot_id = ? LIMIT ?) found';
  return tx.total(sql, botId, max);
}
