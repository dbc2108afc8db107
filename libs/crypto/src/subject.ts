import { givenRows, type SqlPart, type Tx } from '@app/database';
import { invalidRequest } from '@app/kernel';
import type { Digest } from './keyed-digest';

/** The ids by which a bot names a subject. They are stored encrypted only, with the key of the subject. */
export interface SubjectIds {
  readonly guild_id: string;
  readonly user_id: string;
}

/** One user of one bot in one guild, by the digests of the ids, which every table contains. */
export interface Subject {
  readonly botId: string;
  readonly guildId: Digest;
  readonly userId: Digest;
}

/** A subject whose ids a request has named. */
export interface NamedSubject extends Subject {
  readonly ids: SubjectIds;
}

/** The condition for the rows of one subject; its values are the bot, the guild and the user. */
export const SUBJECT_WHERE = 'bot_id = ? AND guild_id = ? AND user_id = ?';

/** The columns of a subject, in the order of {@link subjectValues}. */
export const SUBJECT_KEY = ['bot_id', 'guild_id', 'user_id'] as const;

/** The values of {@link SUBJECT_KEY} and {@link SUBJECT_WHERE}. */
export function subjectValues({ botId, guildId, userId }: Subject): [string, Digest, Digest] {
  return [botId, guildId, userId];
}

/** {@link SUBJECT_WHERE} for the rows of several subjects, on both engines. */
export function amongSubjects(tx: Tx, subjects: readonly Subject[]): SqlPart {
  const given = givenSubjects(tx, subjects);
  return {
    sql: `(bot_id, guild_id, user_id) IN (SELECT given.bot_id, given.guild_id, given.user_id FROM ${given.sql})`,
    values: given.values,
  };
}

/** The condition that two rows of a statement, by their names there, are of the same subject. */
export const sameSubject = (one: string, other: string): string =>
  SUBJECT_KEY.map((column) => `${one}.${column} = ${other}.${column}`).join(' AND ');

/**
 * A column that is hidden from the planners of both engines, so that they find rows of subjects by the primary key and not by an
 * index, which has the rows of all users. `missing` takes the place of null.
 */
export const withoutIndex = (column: string, missing = ''): string => `COALESCE(${column}, '${missing}')`;

/** Subjects as the table `given` of a statement, with their `place` from 1. */
export function givenSubjects(tx: Tx, subjects: readonly Subject[]): SqlPart {
  return givenRows(tx, SUBJECT_KEY, subjects.map(subjectValues));
}

/** The id shown in place of an erased one: a valid snowflake that no platform issues. */
export const ERASED_ID = '0'.repeat(20);

/** The ids shown for a subject whose key is destroyed. */
export const ERASED_IDS: SubjectIds = { guild_id: ERASED_ID, user_id: ERASED_ID };

/** The subject alone, of a record that is about it. */
export function subjectOf({ botId, guildId, userId }: Subject): Subject {
  return { botId, guildId, userId };
}

/** The subject of a row. */
export function subjectAt(
  botId: string,
  { guild_id: guildId, user_id: userId }: { readonly guild_id: Digest; readonly user_id: Digest },
): Subject {
  return { botId, guildId, userId };
}

/** A name that no other subject has. Locks and contexts of encrypted texts contain it: it never changes. */
export function subjectName({ botId, guildId, userId }: Subject): string {
  return `${botId}/${guildId}/${userId}`;
}

/** The values of `scope` in a call without `guild_id`. */
export const SCOPES = ['all_guilds'] as const;

/** The guild of a call; undefined for all guilds. @throws ApiError 400 when the call names both */
export function guildOf(call: { guild_id?: string; scope?: string | null }): string | undefined {
  if (call.scope == null) return call.guild_id;
  if (call.guild_id == null) return undefined;
  throw invalidRequest([{ field: 'guild_id', message: 'must be left out with scope: all guilds are meant' }]);
}

/**
 * Separates an erasure from writes about its subject that do not pass the consent gate, such as an event of a bot.
 * Writers share the lock, an erasure has it alone, each until its unit ends. An act that passes the consent gate needs no
 * lock. On SQLite units run one after the other.
 */
export async function lockSubject(tx: Tx, subject: Subject, mode: 'together' | 'alone'): Promise<void> {
  if (tx.engine !== 'postgres') return;
  const lock = mode === 'alone' ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared';
  await tx.get(`SELECT ${lock}(hashtextextended(?, 0))`, subjectName(subject));
}

/** {@link lockSubject} `alone` of several subjects, in the same order everywhere. */
export async function lockSubjects(tx: Tx, subjects: readonly Subject[]): Promise<void> {
  if (tx.engine !== 'postgres') return;
  await tx.all(
    `SELECT pg_advisory_xact_lock(hashtextextended(name, 0))
     FROM (SELECT name FROM unnest(?::text[]) AS given (name) ORDER BY name) AS ordered`,
    subjects.map(subjectName),
  );
}

/** {@link lockSubject} of several subjects that waits for nothing; returns for each whether it is locked. PostgreSQL only. */
export async function tryLockSubjects(
  tx: Tx,
  subjects: readonly Subject[],
  mode: 'together' | 'alone' = 'alone',
): Promise<boolean[]> {
  const lock = mode === 'alone' ? 'pg_try_advisory_xact_lock' : 'pg_try_advisory_xact_lock_shared';
  const rows = await tx.all<{ locked: boolean }>(
    `SELECT ${lock}(hashtextextended(name, 0)) AS locked
     FROM (SELECT name, place FROM unnest(?::text[]) WITH ORDINALITY AS given (name, place) ORDER BY place) AS ordered`,
    subjects.map(subjectName),
  );
  return rows.map(({ locked }) => locked);
}
