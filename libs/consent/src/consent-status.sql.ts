import { givenSubjects, type Subject, SUBJECT_WHERE, subjectValues } from '@app/crypto';
import { parsed, type Tx } from '@app/database';
import { leavesData } from './consent-changes';
import { declinedAt } from './consent-history';
import type { CategoryStates } from './consent.entity';
import type { Columns } from './consent.sql';
import type { FoundStatus } from './consent.views';

const SHOWN = 'status, version, categories, accepted_at, revoked_at, pending_version, pending_categories';
export const SELECT_STATUS = `SELECT found.declined_at, ${SHOWN} FROM (SELECT ${declinedAt(SUBJECT_WHERE)}) AS found
  LEFT JOIN consents ON ${SUBJECT_WHERE}`;
const OF_GIVEN = (table: string) =>
  `${table}.bot_id = ? AND ${table}.guild_id = given.guild_id AND ${table}.user_id = given.user_id`;
const SELECT_STATUSES = `SELECT given.place, ${declinedAt(OF_GIVEN('consent_history'))}, ${SHOWN}
  FROM unnest(?::text[], ?::text[]) WITH ORDINALITY AS given (guild_id, user_id, place)
  LEFT JOIN consents ON ${OF_GIVEN('consents')}`;
const LISTED = `SELECT given.place, ${declinedAt(OF_GIVEN('consent_history'))},
  (SELECT created_at FROM consent_history WHERE ${OF_GIVEN('consent_history')} ORDER BY id DESC LIMIT 1) AS changed_at,
  ${SHOWN}, erasing`;

export type StatusRow = { readonly declined_at: string | null } & (Columns | { readonly status: null });

type ListedRow = StatusRow & {
  readonly place: number;
  readonly changed_at: string | null;
  readonly erasing: number | null;
};

/** A status in a list. */
export interface ListedStatus extends FoundStatus {
  /** The time of the last request or decision; null where none is known. */
  readonly changedAt: string | null;
}

/** The rows of several subjects of a bot, in their order. */
export async function statusRows(
  tx: Tx,
  botId: string,
  subjects: readonly Subject[],
): Promise<(StatusRow | undefined)[]> {
  if (tx.engine === 'sqlite') {
    const values = subjects.map(subjectValues);
    return Promise.all(values.map((each) => tx.get<StatusRow>(SELECT_STATUS, ...each, ...each)));
  }
  const lists = [subjects.map(({ guildId }) => guildId), subjects.map(({ userId }) => userId)];
  const rows = await tx.all<StatusRow & { place: number }>(SELECT_STATUSES, botId, ...lists, botId);
  const found = new Map(rows.map((row) => [Number(row.place), row]));
  return subjects.map((_, at) => found.get(at + 1));
}

/** The statuses of subjects of a bot, in their order; undefined for a subject that is being erased. */
export async function listedStatuses(
  tx: Tx,
  botId: string,
  subjects: readonly Subject[],
): Promise<(ListedStatus | undefined)[]> {
  const given = givenSubjects(tx, subjects);
  const rows = await tx.all<ListedRow>(
    `${LISTED} FROM ${given.sql} LEFT JOIN consents ON ${OF_GIVEN('consents')}`,
    ...[botId, botId, ...given.values, botId],
  );
  const found = new Map(rows.map((row) => [Number(row.place), row]));
  return subjects.map((_, at) => {
    const row = found.get(at + 1);
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
