import { amongValues, finding, type Tx, type UnitOfWork } from '@app/database';
import { JsonText, type Labels, type Page } from '@app/http';
import { notFound } from '@app/kernel';
import type { Category } from './category.entity';
import type { Purposes } from './purposes';

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

/** Whether `category` of a row rests on a consent, as a condition of a statement over `rows`; both are SQL. */
export function restsOnConsent(rows: string, category: string): string {
  return `(SELECT k.legal_basis FROM categories k WHERE k.bot_id = ${rows}.bot_id AND k.key = ${category}) = 'consent'`;
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

/** The words of a category that users are shown. */
export interface CategoryWords {
  readonly key: string;
  readonly label_de: string;
  readonly label_en: string;
  /** JSON text. */
  readonly labels: string | null;
  readonly description: string | null;
  /** JSON text. */
  readonly purposes: string | null;
  readonly retention_days: number | string | null;
  /** JSON text. */
  readonly fields: string;
}

/** {@link CategoryWords} with the rest of the declaration. */
export interface CategoryRow extends CategoryWords {
  readonly legal_basis: string;
}

const WORDS = 'key, label_de, label_en, labels, description, purposes, retention_days, fields';

/** The words of `keys`, in their order. @throws ApiError 404 for a category that is not declared. */
export function wordsOf(tx: Tx, botId: string, keys: readonly string[]): Promise<CategoryWords[]> {
  return inOrder(tx, WORDS, botId, keys);
}

/** {@link wordsOf} with the rest of each declaration. */
export function declarationsOf(tx: Tx, botId: string, keys: readonly string[]): Promise<CategoryRow[]> {
  return inOrder(tx, `${WORDS}, legal_basis`, botId, keys);
}

async function inOrder<Row extends CategoryWords>(
  tx: Tx,
  columns: string,
  botId: string,
  keys: readonly string[],
): Promise<Row[]> {
  const among = amongValues(tx, 'key', keys);
  const sql = `SELECT ${columns} FROM categories WHERE bot_id = ? AND ${among.sql}`;
  const found = new Map((await tx.all<Row>(sql, botId, among.value)).map((row) => [row.key, row]));
  return keys.map((key) => found.get(key) ?? undeclared());
}

export function undeclared(): never {
  throw notFound('Category');
}

/** The categories of one page as the JSON that is answered, oldest first, from their stored JSON as it is. */
export async function categoryTexts(tx: Tx, botId: string, page: Page<[id: string]>): Promise<JsonText[]> {
  const [after = ''] = page.after ?? [];
  const rows = await tx.all<CategoryRow & Record<'id' | 'created_at', string>>(
    `SELECT id, ${WORDS}, legal_basis, created_at FROM categories WHERE bot_id = ? AND id > ? ORDER BY id LIMIT ? OFFSET ?`,
    ...[botId, after, page.limit, page.offset],
  );
  return page
    .cut(rows, ({ id }) => [id])
    .map(({ fields, created_at, ...row }) => {
      const retention_days = daysOf(row);
      const { id, key, label_de, label_en, description, legal_basis } = row;
      const labels = labelsOf(row);
      const names = { id, key, label_de, label_en, ...(labels !== undefined && { labels }) };
      const before = { ...names, description, ...purposesOf(row), retention_days, legal_basis };
      const head = JSON.stringify(before).slice(0, -1);
      return new JsonText(`${head},"fields":${fields},"created_at":${JSON.stringify(created_at)}}`);
    });
}

export function labelsOf({ labels }: Pick<CategoryWords, 'labels'>): Labels | undefined {
  return labels === null ? undefined : (JSON.parse(labels) as Labels);
}

export function purposesOf({ purposes }: Pick<CategoryWords, 'purposes'>): Purposes | null {
  return purposes === null ? null : (JSON.parse(purposes) as Purposes);
}

/** PostgreSQL answers a 64-bit integer as text. */
export function daysOf({ retention_days: days }: Pick<CategoryWords, 'retention_days'>): number | null {
  return days === null ? null : Number(days);
}

const HOLD = finding<Record<'bot_id' | 'key', string>>(
  'categories',
  ['bot_id', 'key'],
  ['bot_id', 'key'],
  'FOR KEY SHARE',
);

/**
 * Locks those of the wanted categories that are declared against deletion until the unit ends, and answers their names; unless
 * `isAlone`, without those that another unit has locked.
 */
export async function holdCategories(
  tx: Tx,
  wanted: readonly Pick<Category, 'botId' | 'key'>[],
  isAlone: boolean,
): Promise<ReadonlySet<string>> {
  const named = new Map(wanted.map((each) => [categoryName(each), each]));
  if (named.size === 0) return new Set();
  const keys = [...named.values()].map(({ botId, key }) => [botId, key]);
  const found = (await HOLD(tx, keys, isAlone)).filter((row) => row !== undefined);
  return new Set(found.map(({ bot_id: botId, key }) => categoryName({ botId, key })));
}

/** A name that no other category of any bot has. */
export function categoryName({ botId, key }: Pick<Category, 'botId' | 'key'>): string {
  return `${botId} ${key}`;
}
