import type { Tx } from '@app/database';

const BASES: readonly string[] = ['legitimate_interests', 'public_task'];

/** Whether a user can object to a category of a legal basis (GDPR Art. 21(1)). */
export function isObjectable(legalBasis: string | undefined): boolean {
  return legalBasis !== undefined && BASES.includes(legalBasis);
}

/**
 * The categories that a user can object to, and the number of all `declared` ones. With the lock every category that the bot
 * has by now is held until the unit ends: none is deleted, and none becomes one of these.
 */
export async function objectableCategories(
  tx: Tx,
  botId: string,
  lock: 'FOR KEY SHARE' | '',
): Promise<{ readonly keys: string[]; readonly declared: number }> {
  const sql = `SELECT key, legal_basis FROM categories WHERE bot_id = ? ORDER BY key ${lock}`;
  const rows = await tx.all<{ key: string; legal_basis: string }>(sql, botId);
  const keys = rows.filter(({ legal_basis: basis }) => isObjectable(basis)).map(({ key }) => key);
  return { keys, declared: rows.length };
}
