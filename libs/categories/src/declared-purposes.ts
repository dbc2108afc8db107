import { amongValues, type Tx } from '@app/database';
import type { Category } from './category.entity';
import { purposesOf } from './category-queries';

/** The declaration of a category at `updatedAt`: content, purpose and time limit (GDPR Art. 13). */
export type DeclaredPurpose = Pick<
  Category,
  | 'key'
  | 'labelDe'
  | 'labelEn'
  | 'labels'
  | 'description'
  | 'purposes'
  | 'retentionDays'
  | 'legalBasis'
  | 'updatedAt'
> & {
  /** The JSON text of the fields, which most readers do not need. */
  readonly fields: string;
};

const selecting = (fields: string): string =>
  `SELECT key, label_de, label_en, labels, description, purposes, retention_days, legal_basis, ${fields}, updated_at
  FROM categories WHERE bot_id = ?`;
const SELECT = selecting('fields');
const FIRST = 'ORDER BY key LIMIT ?';

type Row = Record<'key' | 'label_de' | 'label_en' | 'legal_basis' | 'fields' | 'updated_at', string> & {
  labels: string | null;
  description: string | null;
  purposes: string | null;
  retention_days: number | string | null;
};

/** The declarations of `keys`, or of the first `limit` categories of the bot, ordered by key. */
export async function declaredPurposes(
  tx: Tx,
  botId: string,
  keys: readonly string[] | null,
  limit: number,
): Promise<DeclaredPurpose[]> {
  if (keys === null) return (await tx.all<Row>(`${SELECT} ${FIRST}`, botId, limit)).map(purposeOf);
  const found = await Promise.all(keys.map((key) => tx.get<Row>(`${SELECT} AND key = ?`, botId, key)));
  return found.flatMap((row) => (row === undefined ? [] : [purposeOf(row)]));
}

/** The declarations of the first `limit` categories of the bot. Those that are not among `keys` are read without their fields. */
export async function purposesShown(
  tx: Tx,
  botId: string,
  keys: readonly string[],
  limit: number,
): Promise<DeclaredPurpose[]> {
  const among = amongValues(tx, 'key', keys);
  const select = selecting(`CASE WHEN ${among.sql} THEN fields ELSE '[]' END AS fields`);
  return (await tx.all<Row>(`${select} ${FIRST}`, among.value, botId, limit)).map(purposeOf);
}

function purposeOf(row: Row): DeclaredPurpose {
  return {
    key: row.key,
    labelDe: row.label_de,
    labelEn: row.label_en,
    labels: row.labels === null ? null : (JSON.parse(row.labels) as Category['labels']),
    description: row.description,
    purposes: purposesOf(row),
    retentionDays: row.retention_days === null ? null : Number(row.retention_days),
    legalBasis: row.legal_basis,
    fields: row.fields,
    updatedAt: row.updated_at,
  };
}
