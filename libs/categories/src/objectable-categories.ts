import type { Tx } from '@app/database';

/** Whether a user can object to a category of a legal basis (GDPR Art. 21(1)). */
export function isObjectable(legalBasis: string | undefined): boolean {
  return legalBasis === 'legitimate_interests' || legalBasis === 'public_task';
}

/** The categories that a user can object to, locked against deletion until the unit ends. */
export async function objectableCategories(tx: Tx, botId: string): Promise<string[]> {
  const sql = `SELECT key FROM categories WHERE bot_id = ? AND legal_basis IN ('legitimate_interests', 'public_task')
    ORDER BY key FOR KEY SHARE`;
  return (await tx.all<{ key: string }>(sql, botId)).map(({ key }) => key);
}
