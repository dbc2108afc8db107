import type { Digest } from './keyed-digest';
import { sameSubject, type Subject, SUBJECT_WHERE } from './subject';

export const SELECT_ID = `SELECT key_id AS id FROM subjects WHERE ${SUBJECT_WHERE}`;
export const SELECT_KEY = 'SELECT sealed FROM keys.subject_keys WHERE id = ?';
export const FIND = `SELECT key_id AS id, sealed FROM subjects JOIN keys.subject_keys stored ON stored.id = key_id
  WHERE ${SUBJECT_WHERE}`;
/** Some subjects of a bot: few enough for requests of other bots to run between two units. */
export const DELETE_SOME = `DELETE FROM subjects WHERE bot_id = ? AND (bot_id, guild_id, user_id) IN
  (SELECT bot_id, guild_id, user_id FROM subjects WHERE bot_id = ? LIMIT 200) RETURNING bot_id, guild_id, user_id, key_id`;
export const SELECT_ALL = `SELECT place, subjects.key_id AS id, stored.sealed
  FROM unnest(?::text[], ?::text[], ?::text[]) WITH ORDINALITY AS given (bot_id, guild_id, user_id, place)
  JOIN subjects USING (bot_id, guild_id, user_id) JOIN keys.subject_keys stored ON stored.id = subjects.key_id`;
export const INSERT = `INSERT INTO subjects (bot_id, guild_id, user_id, key_id) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`;
/** The key of the subject is lost: what it encrypted stays unreadable. */
export const REPLACE = `UPDATE subjects SET key_id = ? WHERE ${SUBJECT_WHERE} AND key_id = ?`;
export const INSERT_KEY = 'INSERT INTO keys.subject_keys (id, sealed) VALUES (?, ?)';
/** Replaces a stored key, unless it was changed. */
export const SET_IDS = 'UPDATE keys.subject_keys SET sealed = ? WHERE id = ? AND sealed = ?';
/** Subjects that have no row yet, and their keys; returns the ids of these keys. */
export const INSERT_ALL = `WITH given AS (
    SELECT * FROM unnest(?::text[], ?::text[], ?::text[], ?::text[], ?::text[])
      AS given (bot_id, guild_id, user_id, key_id, sealed)
  ), held AS (
    INSERT INTO subjects (bot_id, guild_id, user_id, key_id)
    SELECT bot_id, guild_id, user_id, key_id FROM given ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING RETURNING key_id
  )
  INSERT INTO keys.subject_keys (id, sealed) SELECT key_id, sealed FROM given JOIN held USING (key_id) RETURNING id`;

/**
 * For a statement over rows of subjects, named `rows` there: the key of each subject as `key_id` and `key_sealed`. The
 * latter is null for a key that is lost.
 */
export const subjectKeyJoin = (rows: string) => ({
  columns: 'subject.key_id, stored.sealed AS key_sealed',
  join: `LEFT JOIN subjects subject ON ${sameSubject('subject', rows)}
    LEFT JOIN keys.subject_keys stored ON stored.id = subject.key_id`,
});

/** A subject about whom something is held, with the id of its key. */
export type HeldRow = Readonly<{ bot_id: string; guild_id: Digest; user_id: Digest; key_id: string }>;

/** The columns of {@link subjectKeyJoin}. */
export interface JoinedKey {
  readonly key_id: string | null;
  readonly key_sealed: string | null;
}

/** The columns of several subjects, for one statement over all of them. */
export function columnsOf(subjects: readonly Subject[]): [string[], string[], string[]] {
  return [
    subjects.map(({ botId }) => botId),
    subjects.map(({ guildId }) => guildId),
    subjects.map(({ userId }) => userId),
  ];
}

/** Whether anything is held about the subject of a row. */
export function isHeld(row: string): string {
  return `EXISTS (SELECT 1 FROM subjects held WHERE ${sameSubject('held', row)})`;
}

/** Whether anything is held about the user of a row in another guild than its own. */
export function isHeldElsewhere(row: string): string {
  return `EXISTS (SELECT 1 FROM subjects held
    WHERE held.bot_id = ${row}.bot_id AND held.user_id = ${row}.user_id AND held.guild_id <> ${row}.guild_id)`;
}
