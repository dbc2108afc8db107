import type { Tx, UnitOfWork } from '@app/database';

/** A category whose values are kept for a limited time. */
export interface LimitedCategory {
  readonly key: string;
  readonly retentionDays: number;
}

export async function countCategories(tx: Tx, botId: string): Promise<number> {
  const sql = 'SELECT COUNT(*) AS total FROM categories WHERE bot_id = ?';
  return Number((await tx.get<{ total: number }>(sql, botId))?.total ?? 0);
}

/** Whether a bot has more than `limit` categories. It reads at most one key more, in the primary key. */
export async function declaresMoreThan(tx: Tx, botId: string, limit: number): Promise<boolean> {
  const sql = 'SELECT 1 FROM categories WHERE bot_id = ? ORDER BY key LIMIT 1 OFFSET ?';
  return (await tx.get(sql, botId, limit)) !== undefined;
}

/** The GDPR legal basis of a category; undefined for one that is not declared. */
export async function legalBasisOf(tx: Tx, botId: string, key: string): Promise<string | undefined> {
  const sql = 'SELECT legal_basis FROM categories WHERE bot_id = ? AND key = ?';
  return (await tx.get<{ legal_basis: string }>(sql, botId, key))?.legal_basis;
}

/** The categories of a bot that have `retention_days`, by key. */
export async function limitedCategories(tx: Tx, botId: string): Promise<LimitedCategory[]> {
  const rows = await tx.all<{ key: string; retention_days: number | string }>(
    'SELECT key, retention_days FROM categories WHERE bot_id = ? AND retention_days IS NOT NULL ORDER BY key',
    botId,
  );
  return rows.map(({ key, retention_days: days }) => ({ key, retentionDays: Number(days) }));
}

/** The first bot behind `after` that has a category with `retention_days`. */
export async function nextBotWithLimits(unitOfWork: UnitOfWork, after: string): Promise<string | undefined> {
  const row = await unitOfWork.get<{ bot_id: string }>(
    'SELECT bot_id FROM categories WHERE bot_id > ? AND retention_days IS NOT NULL ORDER BY bot_id LIMIT 1',
    after,
  );
  return row?.bot_id;
}

/** The `retention_days` of a category, unchanged until the unit ends; undefined without a limit. */
export async function holdRetentionDays(tx: Tx, botId: string, key: string): Promise<number | undefined> {
  const row = await tx.get<{ retention_days: number | string | null }>(
    'SELECT retention_days FROM categories WHERE bot_id = ? AND key = ? FOR SHARE',
    ...[botId, key],
  );
  return row?.retention_days == null ? undefined : Number(row.retention_days);
}
