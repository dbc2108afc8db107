import type { Tx } from '@app/database';
import type { CategoryView } from './categories.dto';
import type { Category } from './category.entity';
import type { Reasons } from './reasons';

/** A row with its JSON text of {@link Reasons}. */
export type WithoutConsent = Readonly<Record<'without_consent', string | null>>;

/** What a category rests on (GDPR Art. 6(1)). */
interface Basis {
  readonly legalBasis: string;
  readonly requiresConsent: boolean;
}

/** What a category rests on; undefined for one that is not declared. With the lock it stays declared until the unit ends. */
export async function basisOf(
  tx: Tx,
  botId: string,
  key: string,
  lock: 'FOR KEY SHARE' | '' = '',
): Promise<Basis | undefined> {
  const sql = `SELECT legal_basis, without_consent FROM categories WHERE bot_id = ? AND key = ? ${lock}`;
  const row = await tx.get<{ legal_basis: string } & WithoutConsent>(sql, botId, key);
  return row && { legalBasis: row.legal_basis, requiresConsent: row.without_consent === null };
}

/** Whether `category` of a row needs no consent, as the number 1 or 0 of a statement over `rows`; both are SQL. */
export function storedWithoutConsent(rows: string, category: string): string {
  return `(SELECT CASE WHEN k.without_consent IS NULL THEN 0 ELSE 1 END FROM categories k
    WHERE k.bot_id = ${rows}.bot_id AND k.key = ${category})`;
}

/** Whether `category` of a row rests on a consent, as a condition of a statement over `rows`; both are SQL. */
export function restsOnConsent(rows: string, category: string): string {
  return `(SELECT k.legal_basis FROM categories k WHERE k.bot_id = ${rows}.bot_id AND k.key = ${category}) = 'consent'`;
}

/** What an answer says of a category that needs no consent; nothing of another one. */
export function consentFree({ withoutConsent }: Pick<Category, 'withoutConsent'>): Partial<Reasons> & {
  readonly requires_consent?: false;
} {
  return withoutConsent === null ? {} : { requires_consent: false, ...withoutConsent };
}

const NEEDS_CONSENT =
  'Values of this category need a consent, although its legal_basis is another one: where none is needed, say so by requires_consent: false with reason_de and reason_en';

/** The answer to a registration: it warns where values need a consent beside another legal basis. */
export function withWarnings(view: CategoryView): CategoryView {
  const isMeant = view.legal_basis === 'consent' || view.requires_consent === false;
  return isMeant ? view : { ...view, warnings: [NEEDS_CONSENT] };
}

/** Whether a bot has a category that needs no consent. */
export async function storesWithoutConsent(tx: Tx, botId: string): Promise<boolean> {
  const sql = 'SELECT 1 FROM categories WHERE bot_id = ? AND without_consent IS NOT NULL LIMIT 1';
  return (await tx.get(sql, botId)) !== undefined;
}
