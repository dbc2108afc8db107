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

type Row = Omit<BotHolder, 'covers'> & { readonly covers: string };
type CountedRow = Row & {
  readonly openTasks: number;
  readonly oldestOpenAt: string | null;
};

/** Holders of a bot in the order of their keys, behind a key. */
export async function countedHolders(
  tx: Tx,
  botId: string,
  after: string,
  limit: number,
  offset: number,
): Promise<CountedHolder[]> {
  const rows = await tx.all<CountedRow>(
    `SELECT ${COUNTED} FROM bot_holders WHERE bot_id = ? AND key > ? ORDER BY key LIMIT ? OFFSET ?`,
    ...[botId, after, limit, offset],
  );
  return rows.map(holderOf);
}

export async function countedHolder(tx: Tx, botId: string, key: string): Promise<CountedHolder | undefined> {
  const sql = `SELECT ${COUNTED} FROM bot_holders WHERE bot_id = ? AND key = ?`;
  const row = await tx.get<CountedRow>(sql, botId, key);
  return row && holderOf(row);
}

export async function findHolder(
  tx: Tx,
  botId: string,
  key: string,
  lock: 'FOR UPDATE' | 'FOR SHARE' | '' = '',
): Promise<BotHolder | undefined> {
  return (await find(tx, `bot_id = ? AND key = ? ${lock}`, botId, key))[0];
}

/** {@link findHolder}. @throws ApiError 404 for an unknown one */
export async function requireHolder(...given: Parameters<typeof findHolder>): Promise<BotHolder> {
  const holder = await findHolder(...given);
  if (holder === undefined) throw notFound('Holder');
  return holder;
}

/** All holders of a bot in the order of their keys. */
export function holdersOf(tx: Tx, botId: string): Promise<BotHolder[]> {
  return find(tx, 'bot_id = ? ORDER BY key', botId);
}

export async function countHolders(tx: Tx, botId: string): Promise<number> {
  const sql = 'SELECT COUNT(*) AS total FROM bot_holders WHERE bot_id = ?';
  return (await tx.get<{ total: number }>(sql, botId))?.total ?? 0;
}

async function find(tx: Tx, where: string, ...values: SqlPart['values']): Promise<BotHolder[]> {
  const rows = await tx.all<Row>(`SELECT ${COLUMNS} FROM bot_holders WHERE ${where}`, ...values);
  return rows.map(holderOf);
}

function holderOf<Given extends Row>(row: Given): Omit<Given, 'covers'> & Pick<BotHolder, 'covers'> {
  return { ...row, covers: parsed<readonly string[]>(row.covers) ?? [] };
}
