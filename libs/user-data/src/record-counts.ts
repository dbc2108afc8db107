import type { Tx } from '@app/database';

/** The number of records of one bot, counted up to `max`. A record is the value of one subject in one category. */
export async function countRecordsOf(tx: Tx, botId: string, max: number): Promise<number> {
  const sql = 'SELECT COUNT(*) AS total FROM (SELECT 1 FROM user_data WHERE bot_id = ? LIMIT ?) found';
  return Number((await tx.get<{ total: number | string }>(sql, botId, max))?.total ?? 0);
}
