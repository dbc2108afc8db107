import { basisOf, isObjectable } from '@app/categories';
import { sameSubject, type Subject, SUBJECT_WHERE, subjectValues } from '@app/crypto';
import type { Tx } from '@app/database';
import { ApiError } from '@app/kernel';
import type { RefusalKind } from './processing-refusal.entity';

/** An objection or restriction as it is stored. Without a category its key is empty. */
interface StoredRefusal {
  readonly kind: RefusalKind;
  readonly category_key: string;
  readonly created_at: string;
}

const COLUMNS = 'kind, category_key, created_at';
const OF_SUBJECT = `SELECT ${COLUMNS} FROM processing_refusals WHERE ${SUBJECT_WHERE}`;
const OF_CATEGORY = `SELECT kind, category_key FROM processing_refusals WHERE ${SUBJECT_WHERE} AND category_key IN ('', ?)`;

/** All of a subject, the ones without a category first. */
export function refusalsOf(tx: Tx, subject: Subject): Promise<StoredRefusal[]> {
  return tx.all(`${OF_SUBJECT} ORDER BY kind, category_key`, ...subjectValues(subject));
}

/**
 * What forbids the bot to store or read each category of a subject; undefined where nothing does. It is read after the consent
 * is locked: an objection and a restriction lock it too, so that nothing is stored after their answer. By one statement on PostgreSQL,
 * and one for each subject on SQLite; a further one where there is an objection to all categories.
 */
export async function findRefusals(
  tx: Tx,
  wanted: readonly { readonly subject: Subject; readonly category: string }[],
): Promise<readonly (RefusalKind | undefined)[]> {
  const found = await tx.each<Row>(
    OF_CATEGORY,
    wanted.map(({ subject, category }) => [...subjectValues(subject), category]),
  );
  if (found.every((rows) => rows.length === 0)) return found.map(() => undefined);
  return Promise.all(
    found.map(async (rows, at) => {
      const { subject, category } = wanted[at] as (typeof wanted)[number];
      const has: Has = (kind, of) => rows.some((row) => row.kind === kind && row.category_key === (of ?? ''));
      const basis = has('objection', null) ? await basisOf(tx, subject.botId, category) : undefined;
      return refusalIn(has, category, basis?.legalBasis);
    }),
  );
}

type Row = Pick<StoredRefusal, 'kind' | 'category_key'>;

/** Whether the subject has one about a category; null: about all of them. */
type Has = (kind: RefusalKind, category: string | null) => boolean;

/** What forbids to store under a category. The legal basis matters to an objection to all categories alone. An objection comes first: it has no end. */
export function refusalIn(
  has: Has,
  category: string,
  legalBasis: string | undefined,
): RefusalKind | undefined {
  if (has('objection', category) || (has('objection', null) && isObjectable(legalBasis))) return 'objection';
  return has('restriction', category) || has('restriction', null) ? 'restriction' : undefined;
}

/** @throws ApiError 403 `processing_refused` */
export function requireProcessing(refusal: RefusalKind | undefined): void {
  if (refusal === undefined) return;
  throw new ApiError(
    'processing_refused',
    refusal === 'objection'
      ? 'The user has objected to the processing of this category: store nothing under it'
      : 'The user has restricted the processing: what is stored stays, and is neither changed nor read until that ends',
    { reason: refusal },
  );
}

/** The categories of a subject that are restricted; the empty key is everything. */
export async function restrictedOf(tx: Tx, subject: Subject): Promise<ReadonlySet<string>> {
  const sql = `SELECT category_key FROM processing_refusals WHERE ${SUBJECT_WHERE} AND kind = 'restriction'`;
  const rows = await tx.all<{ category_key: string }>(sql, ...subjectValues(subject));
  return new Set(rows.map(({ category_key: key }) => key));
}

/** That no restriction covers `rows` with a `category_key`, as a condition; `rows` is SQL. It reads the primary key. */
export const isUnrestricted = (rows: string): string =>
  `(SELECT 1 FROM processing_refusals r WHERE ${sameSubject('r', rows)}
      AND r.category_key IN ('', ${rows}.category_key) AND r.kind = 'restriction' LIMIT 1) IS NULL`;

/** Whether it is new. */
export async function putRefusal(
  tx: Tx,
  subject: Subject,
  kind: RefusalKind,
  category: string,
  at: string,
): Promise<boolean> {
  const inserted = await tx.run(
    `INSERT INTO processing_refusals (bot_id, guild_id, user_id, category_key, kind, created_at)
     VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (bot_id, guild_id, user_id, category_key, kind) DO NOTHING`,
    ...[...subjectValues(subject), category, kind, at],
  );
  return inserted > 0;
}

/** Removes the restriction of a category; without one, every restriction of the subject. Whether there was any. */
export async function removeRestrictions(tx: Tx, subject: Subject, category?: string): Promise<boolean> {
  const sql = `DELETE FROM processing_refusals WHERE ${SUBJECT_WHERE} AND kind = 'restriction'`;
  const removed =
    category === undefined
      ? tx.run(sql, ...subjectValues(subject))
      : tx.run(`${sql} AND category_key = ?`, ...subjectValues(subject), category);
  return (await removed) > 0;
}
