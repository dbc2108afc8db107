import { parsed, type SqlPart, type Tx } from '@app/database';
import { notFound } from '@app/kernel';
import type { BotHolder } from './bot-holder.entity';

/** A holder with what is open for it. */
export interface CountedHolder extends BotHolder {
  /** Counted up to 1,000. */
  readonly openTasks: number;
  readonly oldestOpenAt: string | null;
}

const OPEN_MAX = 1_000;
const COLUMNS = `bot_id AS "botId", key, kind, covers, label_de AS "labelDe", label_en AS "labelEn",
  public_key AS "publicKey", created_at AS "createdAt", updated_at AS "updatedAt"`;
const OPEN = `FROM holder_tasks WHERE holder_tasks.bot_id = bot_holders.bot_id
  AND holder_tasks.holder_key = bot_holders.key AND open = 1`;
const COUNTED = `${COLUMNS}, (SELECT MIN(holder_tasks.created_at) ${OPEN}) AS "oldestOpenAt",
  (SELECT COUNT(*) FROM (SELECT 1 ${OPEN} LIMIT ${OPEN_MAX}) AS found) AS "openTasks"`;

/** Holders of a bot in the order of their keys, behind a key. */
export function countedHolders(
  tx: Tx,
  botId: string,
  after: string,
  limit: number,
  offset: number,
): Promise<CountedHolder[]> {
  const where = 'bot_id = ? AND key > ? ORDER BY key LIMIT ? OFFSET ?';
  return find(tx, COUNTED, where, botId, after, limit, offset);
}

export async function countedHolder(tx: Tx, botId: string, key: string): Promise<CountedHolder | undefined> {
  return (await find<CountedHolder>(tx, COUNTED, 'bot_id = ? AND key = ?', botId, key))[0];
}

/** @throws ApiError 404 for an unknown holder */
export async function requireHolder(
  tx: Tx,
  botId: string,
  key: string,
  lock: 'FOR UPDATE' | 'FOR SHARE' | '' = '',
): Promise<BotHolder> {
  const [holder] = await find(tx, COLUMNS, `bot_id = ? AND key = ? ${lock}`, botId, key);
  if (holder === undefined) throw notFound('Holder');
  return holder;
}

/** All holders of a bot in the order of their keys. */
export function holdersOf(tx: Tx, botId: string): Promise<BotHolder[]> {
  return find(tx, COLUMNS, 'bot_id = ? ORDER BY key', botId);
}

export function countHolders(tx: Tx, botId: string): Promise<number> {
  return tx.total('SELECT COUNT(*) AS total FROM bot_holders WHERE bot_id = ?', botId);
}

async function find<Holder extends BotHolder>(
  tx: Tx,
  columns: string,
  where: string,
  ...values: SqlPart['values']
): Promise<Holder[]> {
  const sql = `SELECT ${columns} FROM bot_holders WHERE ${where}`;
  const rows = await tx.all<Omit<Holder, 'covers'> & { readonly covers: string }>(sql, ...values);
  return rows.map((row) => ({ ...row, covers: parsed<readonly string[]>(row.covers) ?? [] }) as Holder);
}
