import { type Subject, SUBJECT_WHERE, subjectValues } from '@app/crypto';
import { parsed, type Tx } from '@app/database';
import { leavesData } from './consent-changes';
import { declinedAt } from './consent-history';
import type { CategoryStates } from './consent.entity';
import type { Columns } from './consent.sql';
import type { FoundStatus } from './consent.views';

/** The status of one subject, whose values are given for each column of `found` and once more. */
const statusOf = (
  ...found: readonly string[]
): string => `SELECT found.*, status, version, categories, accepted_at,
    revoked_at, pending_version, pending_categories, erasing
  FROM (SELECT ${found.join(', ')}) AS found LEFT JOIN consents ON ${SUBJECT_WHERE}`;
const DECLINED = declinedAt(SUBJECT_WHERE);
const CHANGED = `(SELECT created_at FROM consent_history WHERE ${SUBJECT_WHERE} ORDER BY id DESC LIMIT 1) AS changed_at`;
export const SELECT_STATUS = statusOf(DECLINED);
const LISTED = statusOf(DECLINED, CHANGED);

export type StatusRow = { readonly declined_at: string | null } & (Columns | { readonly status: null });

type ListedRow = StatusRow & { readonly changed_at: string | null; readonly erasing: number | null };

/** A status in a list. */
export interface ListedStatus extends FoundStatus {
  /** The time of the last request or decision; null where none is known. */
  readonly changedAt: string | null;
}

/** The statuses of subjects, in their order; undefined for a subject that is being erased. */
export async function listedStatuses(
  tx: Tx,
  subjects: readonly Subject[],
): Promise<(ListedStatus | undefined)[]> {
  const values = subjects.map(subjectValues).map((each) => [...each, ...each, ...each]);
  return (await tx.each<ListedRow>(LISTED, values)).map(([row]) => {
    if (row === undefined || row.erasing === 1) return undefined;
    const status = foundIn(row);
    // The history of a consent that ended long ago is pruned.
    const decidedAt = status.consent?.revokedAt ?? status.consent?.acceptedAt ?? null;
    return { ...status, changedAt: row.changed_at ?? decidedAt };
  });
}

export function foundIn(row: StatusRow | undefined): FoundStatus {
  if (row?.status == null) return { consent: null, declinedAt: row?.declined_at ?? null };
  const consent = {
    status: row.status,
    version: row.version,
    categories: parsed<CategoryStates>(row.categories),
    acceptedAt: row.accepted_at,
    revokedAt: row.revoked_at,
    pendingVersion: row.pending_version,
    pendingCategories: parsed<string[]>(row.pending_categories),
  };
  return { consent, declinedAt: row.declined_at };
}

/** Whether data of an earlier, withdrawn consent can still be stored. */
export function hasLeftData({ consent }: FoundStatus): boolean {
  return consent !== null && leavesData(consent);
}
