import { amongValues, finding, parsed, type Tx } from '@app/database';
import type { Page } from '@app/http';
import { notFound } from '@app/kernel';
import type { CategoryView } from './categories.dto';
import type { Category } from './category.entity';
import { consentFree, type WithoutConsent } from './category-basis';

/** A category whose values are kept for a limited time. */
interface LimitedCategory {
  readonly key: string;
  readonly retentionDays: number;
  readonly requiresConsent: boolean;
}

export function countCategories(tx: Tx, botId: string, which: 'all' | 'asked' = 'all'): Promise<number> {
  const sql = `SELECT COUNT(*) AS total FROM categories WHERE bot_id = ? ${which === 'asked' ? ASKED : ''}`;
  return tx.total(sql, botId);
}

/** The categories of a bot that have `retention_days`, by key. */
export async function limitedCategories(tx: Tx, botId: string): Promise<LimitedCategory[]> {
  const rows = await tx.all<WithoutConsent & { key: string; retention_days: number }>(
    `SELECT key, retention_days, without_consent FROM categories
     WHERE bot_id = ? AND retention_days IS NOT NULL ORDER BY key`,
    botId,
  );
  return rows.map(({ key, retention_days: days, without_consent: reasons }) => {
    return { key, retentionDays: days, requiresConsent: reasons === null };
  });
}

/** The bots of a sweep that have a category with `retention_days`. */
export const BOTS_WITH_LIMITS = { table: 'categories', where: 'retention_days IS NOT NULL' };

/** The `retention_days` of a category, unchanged until the unit ends; undefined without a limit. */
export async function holdRetentionDays(tx: Tx, botId: string, key: string): Promise<number | undefined> {
  const row = await tx.get<{ retention_days: number | null }>(
    'SELECT retention_days FROM categories WHERE bot_id = ? AND key = ? FOR SHARE',
    ...[botId, key],
  );
  return row?.retention_days ?? undefined;
}

/** What is read of a declaration besides its fields: the columns and the types of a row follow from these names. */
const DECLARED = [
  ...(['key', 'labelDe', 'labelEn', 'labels', 'description', 'purposes'] as const),
  ...(['retentionDays', 'legalBasis', 'withoutConsent', 'updatedAt', 'deletingAt'] as const),
];

const inSnakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const DECLARATION = DECLARED.map((name) => `${inSnakeCase(name)} AS "${name}"`).join(', ');

/** The declaration of a category at `updatedAt`: content, purpose and time limit (GDPR Art. 13). */
export type DeclaredPurpose = Pick<Category, (typeof DECLARED)[number]> & {
  /** The JSON text of the fields, which most readers do not need. */
  readonly fields: string;
};

/** A declaration as it is stored: what is neither a text nor a number is a JSON text. */
type DeclarationRow = {
  readonly [Name in keyof DeclaredPurpose]: DeclaredPurpose[Name] extends string | number | null
    ? DeclaredPurpose[Name]
    : string | null;
};
type PageRow = DeclarationRow & Pick<Category, 'id' | 'createdAt'>;

function declaring(fields: string): string {
  return `SELECT ${DECLARATION}, ${fields} FROM categories WHERE bot_id = ?`;
}

/** The declarations of `keys`, in their order. @throws ApiError 404 for a category that is not declared. */
export async function declarationsOf(
  tx: Tx,
  botId: string,
  keys: readonly string[],
): Promise<DeclaredPurpose[]> {
  const among = amongValues(tx, 'key', keys);
  const rows = await tx.all<DeclarationRow>(`${declaring('fields')} AND ${among.sql}`, botId, among.value);
  const found = new Map(rows.map((row) => [row.key, declarationOf(row)]));
  return keys.map((key) => found.get(key) ?? undeclared());
}

export function undeclared(): never {
  throw notFound('Category');
}

type HoldLock = 'FOR KEY SHARE' | 'FOR SHARE';
const holding = (lock: HoldLock) =>
  finding<Record<'bot_id' | 'key', string> & WithoutConsent & { readonly deleting_at: string | null }>(
    'categories',
    ['bot_id', 'key'],
    ['bot_id', 'key', 'without_consent', 'deleting_at'],
    lock,
  );
const HOLD = { 'FOR KEY SHARE': holding('FOR KEY SHARE'), 'FOR SHARE': holding('FOR SHARE') };

/** Declared categories by name, and whether each needs a consent. */
export type HeldCategories = ReadonlyMap<string, boolean>;

/**
 * Locks the wanted categories that a consent may come to name against deletion until the unit ends, `FOR SHARE` against each change too,
 * and returns their names: those that are declared, and whose deletion has not begun. Unless `isAlone`, categories that another unit has locked are left out.
 */
export async function holdCategories(
  tx: Tx,
  wanted: readonly Pick<Category, 'botId' | 'key'>[],
  isAlone: boolean,
  lock: HoldLock = 'FOR KEY SHARE',
): Promise<HeldCategories> {
  const named = new Map(wanted.map((each) => [categoryName(each), each]));
  if (named.size === 0) return new Map();
  const keys = [...named.values()].map(({ botId, key }) => [botId, key]);
  const found = (await HOLD[lock](tx, keys, isAlone)).filter((row) => row !== undefined);
  return new Map(
    found
      .filter(({ deleting_at: endingAt }) => endingAt === null)
      .map((row) => [categoryName({ botId: row.bot_id, key: row.key }), row.without_consent === null]),
  );
}

/** A name that no other category of any bot has. */
export function categoryName({ botId, key }: Pick<Category, 'botId' | 'key'>): string {
  return `${botId} ${key}`;
}

const FIRST = 'ORDER BY key LIMIT ?';
const ASKED = 'AND without_consent IS NULL';

/** The declarations of `keys`, or of the first `limit` categories of the bot, ordered by key; `asked` only those that need a consent. */
export async function declaredPurposes(
  tx: Tx,
  botId: string,
  keys: readonly string[] | null,
  limit: number,
  which: 'all' | 'asked' = 'all',
): Promise<DeclaredPurpose[]> {
  const select = `${declaring('fields')} ${which === 'asked' ? ASKED : ''}`;
  if (keys === null)
    return (await tx.all<DeclarationRow>(`${select} ${FIRST}`, botId, limit)).map(declarationOf);
  const read = (key: string) => tx.get<DeclarationRow>(`${select} AND key = ?`, botId, key);
  const found = await Promise.all(keys.map(read));
  return found.flatMap((row) => (row === undefined ? [] : [declarationOf(row)]));
}

/** The declarations of `keys` and of the first `limit` categories of the bot, ordered by key. Those that are not among `filled` are read without their fields. */
export async function purposesShown(
  tx: Tx,
  botId: string,
  keys: readonly string[],
  limit: number,
  filled = keys,
): Promise<DeclaredPurpose[]> {
  const [among, whole] = [amongValues(tx, 'key', keys), amongValues(tx, 'key', filled)];
  const select = declaring(`CASE WHEN ${whole.sql} THEN fields ELSE '[]' END AS fields`);
  const first = `key IN (SELECT key FROM categories WHERE bot_id = ? ${FIRST})`;
  const sql = `${select} AND (${among.sql} OR ${first}) ORDER BY key`;
  const rows = await tx.all<DeclarationRow>(sql, whole.value, botId, among.value, botId, limit);
  return rows.map(declarationOf);
}

function declarationOf(row: DeclarationRow): DeclaredPurpose {
  return {
    ...row,
    labels: parsed(row.labels),
    purposes: parsed(row.purposes),
    withoutConsent: parsed(row.withoutConsent),
  };
}

/** The categories of one page, oldest first. Each is made of its row when it is sent: the fields of all can be large. */
export async function categoriesOfPage(
  tx: Tx,
  botId: string,
  page: Page<[id: string]>,
): Promise<Iterable<CategoryView>> {
  const [after = ''] = page.after ?? [];
  const rows = await tx.all<PageRow>(
    `SELECT id, ${DECLARATION}, fields, created_at AS "createdAt" FROM categories
     WHERE bot_id = ? AND id > ? ORDER BY id LIMIT ? OFFSET ?`,
    ...[botId, after, page.limit, page.offset],
  );
  return viewsOf(page.cut(rows, ({ id }) => [id]));
}

function* viewsOf(rows: readonly PageRow[]): Generator<CategoryView> {
  for (const row of rows) {
    const fields = JSON.parse(row.fields) as Category['fields'];
    yield categoryView({ ...row, ...declarationOf(row), fields });
  }
}

/** A category as it is answered. */
export function categoryView(category: Omit<Category, 'botId' | 'updatedAt'>): CategoryView {
  return {
    id: category.id,
    key: category.key,
    label_de: category.labelDe,
    label_en: category.labelEn,
    ...(category.labels !== null && { labels: category.labels }),
    description: category.description,
    ...category.purposes,
    retention_days: category.retentionDays,
    legal_basis: category.legalBasis,
    ...consentFree(category),
    fields: category.fields,
    created_at: category.createdAt,
    ...(category.deletingAt !== null && { deleting_at: category.deletingAt }),
  };
}
