import { parsed, type Tx, type UnitOfWork } from '@app/database';
import { type Subject, SUBJECT_WHERE } from '@app/subjects';
import { declinedAt } from './consent-history';
import type { CategoryStates, Consent } from './consent.entity';
import type { Columns } from './consent.sql';

/** The part of a consent that its status shows. */
export type ShownConsent = Pick<
  Consent,
  'status' | 'version' | 'categories' | 'acceptedAt' | 'revokedAt' | 'pendingVersion' | 'pendingCategories'
>;

/** The consent of a subject; null for the status `none`. */
export interface FoundStatus {
  readonly consent: ShownConsent | null;
  /** The time of the last refusal, unless the user was asked or has accepted since. */
  readonly declinedAt: string | null;
}

/** Of a subject that was never asked. */
export const NEVER_ASKED: FoundStatus = { consent: null, declinedAt: null };

const SHOWN = 'status, version, categories, accepted_at, revoked_at, pending_version, pending_categories';
const SELECT_STATUS = `SELECT found.declined_at, ${SHOWN} FROM (SELECT ${declinedAt(SUBJECT_WHERE)}) AS found
  LEFT JOIN consents ON ${SUBJECT_WHERE}`;
const OF_GIVEN = (table: string) =>
  `${table}.bot_id = ? AND ${table}.guild_id = given.guild_id AND ${table}.user_id = given.user_id`;
const SELECT_STATUSES = `SELECT given.place, ${declinedAt(OF_GIVEN('consent_history'))}, ${SHOWN}
  FROM unnest(?::text[], ?::text[]) WITH ORDINALITY AS given (guild_id, user_id, place)
  LEFT JOIN consents ON ${OF_GIVEN('consents')}`;

type StatusRow = { readonly declined_at: string | null } & (Columns | { readonly status: null });

/** The status of a subject in one small read, since bots ask for it before every act. */
export async function findStatus(
  unitOfWork: UnitOfWork,
  { botId, guildId, userId }: Subject,
): Promise<FoundStatus> {
  const subject = [botId, guildId, userId];
  return shown(await unitOfWork.get<StatusRow>(SELECT_STATUS, ...subject, ...subject));
}

/** {@link findStatus} of several subjects of a bot, in their order. */
export async function findStatuses(
  tx: Tx,
  botId: string,
  subjects: readonly Subject[],
): Promise<readonly FoundStatus[]> {
  if (tx.engine === 'sqlite') {
    const read = ({ guildId, userId }: Subject) => {
      const subject = [botId, guildId, userId];
      return tx.get<StatusRow>(SELECT_STATUS, ...subject, ...subject);
    };
    return (await Promise.all(subjects.map(read))).map(shown);
  }
  const lists = [subjects.map(({ guildId }) => guildId), subjects.map(({ userId }) => userId)];
  const rows = await tx.all<StatusRow & { place: number }>(SELECT_STATUSES, botId, ...lists, botId);
  const found = new Map(rows.map((row) => [Number(row.place), row]));
  return subjects.map((_, at) => shown(found.get(at + 1)));
}

function shown(row: StatusRow | undefined): FoundStatus {
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
