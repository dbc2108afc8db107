import {
  ConcurrentChange,
  containing,
  finding,
  insertion,
  json,
  parsed,
  type SqlValue,
  type Tx,
} from '@app/database';
import {
  amongSubjects,
  type Digest,
  type ErasedPart,
  lockSubjects,
  type Subject,
  SUBJECT_KEY as SUBJECT,
  SUBJECT_WHERE,
  subjectAt,
  subjectValues,
  tryLockSubjects,
} from '@app/crypto';
import type { CategoryStates, Consent, RevokedConsent } from './consent.entity';

const CHANGING = [
  ...['id', 'status', 'version', 'categories', 'requested_at', 'accepted_at', 'revoked_at', 'erasing'],
  ...['pending_id', 'pending_version', 'pending_categories', 'pending_requested_at', 'before_request'],
];
const COLUMNS = [...SUBJECT, ...CHANGING];

const insertConsents = (end: string) =>
  insertion('INSERT INTO consents', COLUMNS, `ON CONFLICT (bot_id, guild_id, user_id) DO ${end}`, [
    'erasing',
  ]);
const PUT = insertConsents(
  `UPDATE SET ${CHANGING.map((column) => `${column} = excluded.${column}`).join(', ')}`,
);
const CREATE = insertConsents('NOTHING');

type Nullable =
  | ('categories' | 'accepted_at' | 'revoked_at' | 'before_request')
  | `pending_${'id' | 'version' | 'categories' | 'requested_at'}`;

export type Columns = Record<'bot_id' | 'id' | 'version' | 'requested_at', string> &
  Record<'guild_id' | 'user_id', Digest> &
  Record<Nullable, string | null> &
  Pick<Consent, 'status' | 'erasing'>;

function consentOf(row: Columns | undefined): Consent | null {
  if (row === undefined) return null;
  return {
    botId: row.bot_id,
    guildId: row.guild_id,
    userId: row.user_id,
    id: row.id,
    status: row.status,
    version: row.version,
    categories: parsed<CategoryStates>(row.categories),
    requestedAt: row.requested_at,
    acceptedAt: row.accepted_at,
    revokedAt: row.revoked_at,
    erasing: row.erasing,
    pendingId: row.pending_id,
    pendingVersion: row.pending_version,
    pendingCategories: parsed<string[]>(row.pending_categories),
    pendingRequestedAt: row.pending_requested_at,
    beforeRequest: parsed<RevokedConsent>(row.before_request),
  };
}

const FIND = finding<Columns>('consents', SUBJECT, COLUMNS);
const HOLD = finding<Columns>('consents', SUBJECT, COLUMNS, 'FOR UPDATE');

/** The consents of subjects; null for the status `none`. */
export async function findConsents(tx: Tx, subjects: readonly Subject[]): Promise<(Consent | null)[]> {
  return (await FIND(tx, subjects.map(subjectValues), true)).map(consentOf);
}

/** The consent of a subject; null for the status `none`. */
export async function findConsent(tx: Tx, subject: Subject): Promise<Consent | null> {
  return (await findConsents(tx, [subject]))[0] ?? null;
}

/**
 * The consents of subjects, locked until the unit ends: no other unit changes them or stores under them. null for a subject
 * without a consent, and, unless `isAlone`, for one whose consent another unit has locked.
 */
export async function holdConsents(
  tx: Tx,
  subjects: readonly Subject[],
  isAlone: boolean,
): Promise<(Consent | null)[]> {
  return (await HOLD(tx, subjects.map(subjectValues), isAlone)).map(consentOf);
}

/**
 * The consents of subjects, locked until the unit ends; null for a subject without one, which only this unit can create until it
 * ends. Unless `isAlone`, undefined for a subject that another unit has locked.
 */
export async function holdSubjectsAndConsents(
  tx: Tx,
  subjects: readonly Subject[],
  isAlone: boolean,
): Promise<(Consent | null | undefined)[]> {
  if (!isAlone && tx.engine === 'postgres') return tryLockSubjectsAndConsents(tx, subjects);
  return (await Promise.all([lockSubjects(tx, subjects), holdConsents(tx, subjects, true)]))[1];
}

/** {@link holdSubjectsAndConsents} that waits for no other unit. PostgreSQL only. */
export async function tryLockSubjectsAndConsents(
  tx: Tx,
  subjects: readonly Subject[],
): Promise<(Consent | null | undefined)[]> {
  const [named, held, stored] = await Promise.all([
    tryLockSubjects(tx, subjects),
    holdConsents(tx, subjects, false),
    // A consent that is stored and was not locked is held by another unit.
    tx.each(`SELECT 1 FROM consents WHERE ${SUBJECT_WHERE}`, subjects.map(subjectValues)),
  ]);
  return held.map((consent, at) => {
    if (named[at] !== true) return undefined;
    return consent ?? (stored[at]?.length === 0 ? null : undefined);
  });
}

/**
 * Locks a subject against erasure, storing and changes of its consent until the unit ends; returns whether it has a consent, by
 * which it is locked then.
 */
export async function holdSubject(tx: Tx, subject: Subject): Promise<boolean> {
  const held = `SELECT 1 FROM consents WHERE ${SUBJECT_WHERE} FOR UPDATE`;
  const hasConsent = (await tx.get(held, ...subjectValues(subject))) !== undefined;
  if (!hasConsent && tx.engine === 'postgres') await holdSubjectsAndConsents(tx, [subject], true);
  return hasConsent;
}

/**
 * Looks at `limit` consents of a bot behind `after`, in their order, and locks those that name a category for the unit that removes it.
 * `after` of the answer is the last one that was looked at. No index has which name it, so the statement chooses none: it would look
 * for them among millions.
 */
export async function consentsNaming(
  tx: Tx,
  {
    botId,
    category,
    after,
  }: { readonly botId: string; readonly category: string; readonly after: Subject | undefined },
  limit: number,
): Promise<ErasedPart & { readonly consents: readonly Consent[] }> {
  const key = `"${category}"`;
  const naming = [
    containing(tx, 'categories', `${key}:`),
    containing(tx, 'pending_categories', key),
    containing(tx, 'before_request', '"categories":{', `${key}:"`),
  ];
  const rows = await tx.all<Pick<Columns, 'guild_id' | 'user_id'> & { isNaming: number }>(
    `SELECT guild_id, user_id, CASE WHEN ${naming.map(({ sql }) => sql).join(' OR ')} THEN 1 ELSE 0 END AS "isNaming"
     FROM consents WHERE bot_id = ? AND (guild_id, user_id) > (?, ?) ORDER BY guild_id, user_id LIMIT ${limit}`,
    ...[...naming.map(({ value }) => value), botId, after?.guildId ?? '', after?.userId ?? ''],
  );
  const subjects = rows.map((row) => subjectAt(botId, row));
  const meant = subjects.filter((_, at) => Number(rows[at]?.isNaming) === 1);
  const consents = meant.length > 0 ? await holdConsents(tx, meant, true) : [];
  return {
    consents: consents.filter((found) => found !== null),
    isMore: rows.length >= limit,
    after: subjects.at(-1) ?? after,
  };
}

const WAITING = finding<Columns>('consents', ['bot_id', 'pending_id'], SUBJECT);
const DECIDED_BY_ID = finding<Columns>('consents', ['bot_id', 'id'], SUBJECT);

/** The subjects of requests, decided or waiting, which are not locked; undefined for an unknown request. */
export async function findSubjectsOfRequests(
  tx: Tx,
  requests: readonly { readonly botId: string; readonly id: string }[],
): Promise<(Subject | undefined)[]> {
  const keys = requests.map(({ botId, id }) => [botId, id]);
  const [waiting, decided] = await Promise.all([WAITING(tx, keys, true), DECIDED_BY_ID(tx, keys, true)]);
  return requests.map(({ botId }, at) => {
    const row = waiting[at] ?? decided[at];
    return row && subjectAt(botId, row);
  });
}

/** Removes consents that the unit has locked. */
export async function removeConsents(tx: Tx, subjects: readonly Subject[]): Promise<void> {
  const among = amongSubjects(tx, subjects);
  await tx.run(`DELETE FROM consents WHERE ${among.sql}`, ...among.values);
}

/** Updates consents that the unit has locked. */
export async function putConsents(tx: Tx, given: readonly Consent[]): Promise<void> {
  await PUT(tx, given.map(valuesOf));
}

/** Inserts the first consents of subjects. @throws ConcurrentChange when another unit has inserted one of them. */
export async function createConsents(tx: Tx, given: readonly Consent[]): Promise<void> {
  if ((await CREATE(tx, given.map(valuesOf))) < given.length) throw new ConcurrentChange();
}

function valuesOf(given: Consent): SqlValue[] {
  const { botId, guildId, userId, id, status, version, requestedAt, acceptedAt, revokedAt, erasing } = given;
  const { categories, pendingId, pendingVersion, pendingCategories, pendingRequestedAt, beforeRequest } =
    given;
  const decided = [id, status, version, json(categories), requestedAt, acceptedAt, revokedAt, erasing];
  const pending = [pendingId, pendingVersion, json(pendingCategories), pendingRequestedAt];
  return [botId, guildId, userId, ...decided, ...pending, json(beforeRequest)];
}
