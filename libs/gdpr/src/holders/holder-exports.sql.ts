import {
  amongSubjects,
  type JoinedKey,
  type Subject,
  SUBJECT_WHERE,
  subjectKeyIdOf,
  subjectKeyJoin,
  subjectName,
  subjectValues,
} from '@app/crypto';
import { givenRows, parsed, type Tx } from '@app/database';
import type { HolderExport } from './holder-export.entity';
import type { MadeTask, TaskPlace } from './holder-tasks.sql';

const columnsOf = (row: string): string =>
  `${row}.bot_id AS "botId", ${row}.guild_id AS "guildId", ${row}.user_id AS "userId", ${row}.holder_key AS "holderKey",
   ${row}.task_id AS "taskId", ${row}.ids, ${row}.created_at AS "createdAt", ${row}.open, ${row}.failed_at AS "failedAt",
   ${row}.result, ${row}.answer, ${row}.answered_at AS "answeredAt"`;

/** Rows that one unit removes at most, so that no other unit waits for long. */
const REMOVED_AT_ONCE = 500;

/** A question to one holder. */
interface NewQuestion extends MadeTask {
  readonly ids: string;
}

/** A holder of the bot, with what it was asked for about a subject and has answered. */
export interface AskedHolder {
  readonly key: string;
  readonly labelDe: string;
  readonly labelEn: string;
  readonly covers: readonly string[];
  /** Null where the holder was not asked. */
  readonly createdAt: string | null;
  readonly open: number | null;
  readonly result: HolderExport['result'];
  readonly answeredAt: string | null;
}

/** An open task with the key of its subject. */
export type OpenExport = Pick<
  HolderExport,
  'botId' | 'guildId' | 'userId' | 'holderKey' | 'taskId' | 'ids' | 'createdAt' | 'failedAt'
> &
  JoinedKey;

/** What an encrypted text of a row is bound to. */
export function contextOfExport(subject: Subject, holderKey: string, column: 'ids' | 'answer'): string {
  return `holder_exports/${subjectName(subject)}/${holderKey}/${column}`;
}

/**
 * Asks holders about a subject by one statement, and returns the questions that were asked. A holder that has an open task, or has
 * answered after `answeredAfter`, is not asked again unless a lost key has given way to another one, by which neither can be read. An
 * earlier answer stays until the next one.
 */
export async function addQuestions(
  tx: Tx,
  subject: Subject,
  questions: readonly NewQuestion[],
  createdAt: string,
  answeredAfter: string,
): Promise<NewQuestion[]> {
  const given = givenRows(
    tx,
    ['bot_id', 'guild_id', 'user_id', 'holder_key', 'task_id', 'ids', 'created_at'],
    questions.map(({ holderKey, taskId, ids }) => [
      ...subjectValues(subject),
      ...[holderKey, taskId, ids, createdAt],
    ]),
  );
  const asked = await tx.all<{ readonly task_id: string }>(
    `INSERT INTO holder_exports (bot_id, guild_id, user_id, holder_key, task_id, ids, created_at, open)
     SELECT given.bot_id, given.guild_id, given.user_id, given.holder_key, given.task_id, given.ids, given.created_at, 1
     FROM ${given.sql} WHERE given.place > 0 ORDER BY given.place
     ON CONFLICT (bot_id, guild_id, user_id, holder_key) DO UPDATE SET task_id = excluded.task_id, ids = excluded.ids,
       created_at = excluded.created_at, open = 1, failed_at = NULL
     WHERE (holder_exports.open = 0 AND holder_exports.answered_at <= ?)
       OR ${subjectKeyIdOf('holder_exports.ids')} <> ${subjectKeyIdOf('excluded.ids')} RETURNING task_id`,
    ...given.values,
    answeredAfter,
  );
  const ids = new Set(asked.map(({ task_id }) => task_id));
  return questions.filter(({ taskId }) => ids.has(taskId));
}

/** All holders of the bot in the order of their keys, with what each was asked about the subject; one statement. */
export async function askedHolders(tx: Tx, subject: Subject): Promise<AskedHolder[]> {
  const { botId, guildId, userId } = subject;
  const rows = await tx.all<Omit<AskedHolder, 'covers'> & { readonly covers: string }>(
    `SELECT h.key, h.label_de AS "labelDe", h.label_en AS "labelEn", h.covers, e.created_at AS "createdAt", e.open, e.result,
       e.answered_at AS "answeredAt"
     FROM bot_holders h LEFT JOIN holder_exports e
       ON e.bot_id = h.bot_id AND e.holder_key = h.key AND e.guild_id = ? AND e.user_id = ?
     WHERE h.bot_id = ? ORDER BY h.key`,
    ...[guildId, userId, botId],
  );
  return rows.map((row) => ({ ...row, covers: parsed<readonly string[]>(row.covers) ?? [] }));
}

/** What one holder has answered about a subject, encrypted. */
export async function answerOf(
  tx: Tx,
  subject: Subject,
  holderKey: string,
): Promise<Pick<HolderExport, 'answer' | 'answeredAt'> | undefined> {
  return tx.get(
    `SELECT answer, answered_at AS "answeredAt" FROM holder_exports WHERE ${SUBJECT_WHERE} AND holder_key = ?`,
    ...subjectValues(subject),
    holderKey,
  );
}

/** Open tasks of a holder, oldest first, behind a place. */
export function openExports(
  tx: Tx,
  botId: string,
  holderKey: string,
  [createdAt, taskId]: TaskPlace,
  limit: number,
): Promise<OpenExport[]> {
  const key = subjectKeyJoin('held');
  return tx.all<OpenExport>(
    `SELECT ${columnsOf('held')}, ${key.columns} FROM holder_exports held ${key.join}
     WHERE held.bot_id = ? AND held.holder_key = ? AND held.open = 1 AND (held.created_at, held.task_id) > (?, ?)
     ORDER BY held.created_at, held.task_id LIMIT ${limit}`,
    ...[botId, holderKey, createdAt, taskId],
  );
}

/** A task of a holder, locked until the unit ends; undefined for an unknown one. */
export function lockExport(
  tx: Tx,
  botId: string,
  holderKey: string,
  taskId: string,
): Promise<HolderExport | undefined> {
  return tx.get<HolderExport>(
    `SELECT ${columnsOf('holder_exports')} FROM holder_exports WHERE bot_id = ? AND holder_key = ? AND task_id = ? FOR UPDATE`,
    ...[botId, holderKey, taskId],
  );
}

/** Removes everything about subjects, answers too. */
export async function removeExports(tx: Tx, subjects: readonly Subject[]): Promise<void> {
  const among = amongSubjects(tx, subjects);
  await tx.run(`DELETE FROM holder_exports WHERE ${among.sql}`, ...among.values);
}

/** Removes some tasks and answers of a holder, and returns their number; 0 once it has none. */
export function removeSomeOf(tx: Tx, botId: string, holderKey: string): Promise<number> {
  return tx.run(
    `DELETE FROM holder_exports WHERE bot_id = ? AND holder_key = ? AND task_id IN (
       SELECT task_id FROM holder_exports WHERE bot_id = ? AND holder_key = ? LIMIT ${REMOVED_AT_ONCE})`,
    ...[botId, holderKey, botId, holderKey],
  );
}

/** Removes some answers of a bot that came before a time. An open task stays, without the earlier answer. */
export async function removeSomeAnswers(tx: Tx, botId: string, before: string): Promise<number> {
  const rows = await tx.all<{ holder_key: string; task_id: string; open: number }>(
    `SELECT holder_key, task_id, open FROM holder_exports WHERE bot_id = ? AND answered_at < ?
     ORDER BY answered_at LIMIT ${REMOVED_AT_ONCE} FOR UPDATE`,
    ...[botId, before],
  );
  const named = 'bot_id = ? AND holder_key = ? AND task_id = ?';
  await Promise.all(
    rows.map(({ holder_key, task_id, open }) =>
      tx.run(
        open === 0
          ? `DELETE FROM holder_exports WHERE ${named}`
          : `UPDATE holder_exports SET result = NULL, answer = NULL, answered_at = NULL WHERE ${named}`,
        ...[botId, holder_key, task_id],
      ),
    ),
  );
  return rows.length;
}
