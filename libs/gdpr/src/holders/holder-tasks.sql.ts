import { givenRows, json, parsed, type SqlPart, type Tx } from '@app/database';
import { daysAfter } from '@app/kernel';
import type { DeletionRequest } from '../erasure/deletion-request.entity';
import type { BotHolder, HolderKind } from './bot-holder.entity';
import type { DeclaredHolder, HolderTask } from './holder-task.entity';

const COLUMNS = `bot_id AS "botId", holder_key AS "holderKey", request_id AS "requestId", created_at AS "createdAt", open,
  result, counts, kept_basis AS "keptBasis", kept_until AS "keptUntil", statement, declared, seal, answered_at AS "answeredAt"`;

/** Days in which a holder answers. */
const DUE_DAYS = 14;
/** Tasks that one unit gives up at most, so that no other unit waits for long. */
const ABANDONED_AT_ONCE = 500;

type JsonName = 'counts' | 'declared';
type Row = Omit<HolderTask, JsonName> & Readonly<Record<JsonName, string | null>>;

/** A time and the id of an erasure: the place of a task in a list. */
export type TaskPlace = readonly [time: string, requestId: string];

/** A task that was made just now, and how its holder learns of it. */
export interface MadeTask {
  readonly holderKey: string;
  /** For a task to erase the id of the erasure. */
  readonly taskId: string;
  readonly kind: HolderKind;
}

/**
 * Makes the tasks of completed erasures, one for each holder of their bots, by one statement, and returns them. A task that exists
 * stays, and is not returned. A bot without holders gets none.
 */
export async function addTasks(
  tx: Tx,
  erasures: readonly Pick<DeletionRequest, 'botId' | 'id'>[],
  createdAt: string,
): Promise<MadeTask[]> {
  const given = givenRows(
    tx,
    ['bot_id', 'request_id', 'created_at'],
    erasures.map(({ botId, id }) => [botId, id, createdAt]),
  );
  return tx.all<MadeTask>(
    `INSERT INTO holder_tasks (bot_id, holder_key, request_id, created_at, open)
     SELECT given.bot_id, bot_holders.key, given.request_id, given.created_at, 1
     FROM ${given.sql} JOIN bot_holders ON bot_holders.bot_id = given.bot_id WHERE given.place > 0 ON CONFLICT DO NOTHING
     RETURNING holder_key AS "holderKey", request_id AS "taskId", (SELECT kind FROM bot_holders
       WHERE bot_holders.bot_id = holder_tasks.bot_id AND bot_holders.key = holder_tasks.holder_key) AS kind`,
    ...given.values,
  );
}

/** The tasks of an erasure in the order of the keys of their holders; none for a bot without holders. */
export function tasksOf(tx: Tx, botId: string, requestId: string): Promise<HolderTask[]> {
  return find(tx, 'bot_id = ? AND request_id = ? ORDER BY holder_key', botId, requestId);
}

/** One task, locked until the unit ends; undefined for an unknown one. */
export async function lockTask(
  tx: Tx,
  botId: string,
  holderKey: string,
  requestId: string,
): Promise<HolderTask | undefined> {
  const named = 'bot_id = ? AND holder_key = ? AND request_id = ? FOR UPDATE';
  return (await find(tx, named, botId, holderKey, requestId))[0];
}

/** Tasks of a holder behind a place: open ones, oldest first, or those with a final result, in the order of their answers. */
export function tasksBehind(
  tx: Tx,
  which: 'open' | 'answered',
  botId: string,
  holderKey: string,
  [at, requestId]: TaskPlace,
  limit: number,
): Promise<HolderTask[]> {
  const [open, time] = which === 'open' ? [1, 'created_at'] : [0, 'answered_at'];
  return find(
    tx,
    `bot_id = ? AND holder_key = ? AND open = ${open} AND (${time}, request_id) > (?, ?)
     ORDER BY ${time}, request_id LIMIT ${limit}`,
    ...[botId, holderKey, at, requestId],
  );
}

/** Gives up some of the open tasks of a holder, and returns their number; 0 once none is open. */
export function abandonSome(tx: Tx, holder: BotHolder, at: string): Promise<number> {
  const { botId, key } = holder;
  return tx.run(
    `UPDATE holder_tasks SET open = 0, result = 'abandoned', counts = NULL, statement = NULL, seal = NULL, declared = ?, answered_at = ?
     WHERE bot_id = ? AND holder_key = ? AND request_id IN (
       SELECT request_id FROM holder_tasks WHERE bot_id = ? AND holder_key = ? AND open = 1
       ORDER BY created_at, request_id LIMIT ${ABANDONED_AT_ONCE})`,
    ...[json(declaredBy(holder)), at, botId, key, botId, key],
  );
}

/** From this time a task without an answer is overdue. */
export function dueAt({ createdAt }: Pick<HolderTask, 'createdAt'>): string {
  return daysAfter(createdAt, DUE_DAYS);
}

/** What a holder declares at present. */
export function declaredBy({ labelDe, labelEn, covers, publicKey }: BotHolder): DeclaredHolder {
  return { labelDe, labelEn, covers, publicKey };
}

async function find(tx: Tx, where: string, ...values: SqlPart['values']): Promise<HolderTask[]> {
  const rows = await tx.all<Row>(`SELECT ${COLUMNS} FROM holder_tasks WHERE ${where}`, ...values);
  return rows.map((row) => ({
    ...row,
    open: Number(row.open),
    counts: parsed<NonNullable<HolderTask['counts']>>(row.counts),
    declared: parsed<NonNullable<HolderTask['declared']>>(row.declared),
  }));
}
