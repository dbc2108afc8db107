import { amongValues, type Tx } from '@app/database';
import { type Subject, SUBJECT_WHERE } from '@app/subjects';

/** Whether the ledger of erasures says that a key of a bot's subjects was destroyed. */
export async function isDestroyed(tx: Tx, botId: string, keyId: string): Promise<boolean> {
  const sql = 'SELECT 1 FROM keys.erasure_ledger WHERE bot_id = ? AND key_id = ? LIMIT 1';
  return (await tx.get(sql, botId, keyId)) !== undefined;
}

/** What the ledger of erasures has about a request. */
export interface NotedErasure {
  readonly request_id: string;
  readonly guild_id: string;
  readonly user_id: string;
  readonly erased_at: string;
}

/** The entries of the ledger about requests of a bot. */
export function ledgerEntriesOf(
  tx: Tx,
  botId: string,
  requestIds: readonly string[],
): Promise<NotedErasure[]> {
  const among = amongValues(tx, 'request_id', requestIds);
  return tx.all<NotedErasure>(
    `SELECT request_id, guild_id, user_id, erased_at FROM keys.erasure_ledger WHERE bot_id = ? AND ${among.sql}`,
    ...[botId, among.value],
  );
}

/** Removes stored keys; answers their number. */
export function removeKeys(tx: Tx, keyIds: readonly string[]): Promise<number> {
  const among = amongValues(tx, 'id', keyIds);
  return tx.run(`DELETE FROM keys.subject_keys WHERE ${among.sql}`, among.value);
}

/** Removes a stored key, unless another subject than the given one has it; answers the number of removed keys. */
export async function removeKeyOf(
  tx: Tx,
  { botId, guildId, userId }: Subject,
  keyId: string,
): Promise<number> {
  const ofOther = `SELECT 1 FROM subjects WHERE key_id = ? AND NOT (${SUBJECT_WHERE})`;
  return (await tx.get(ofOther, keyId, botId, guildId, userId)) === undefined ? removeKeys(tx, [keyId]) : 0;
}
