import { ConcurrentChange, insertion, type SqlValue, type Tx } from '@app/database';
import type { Digest } from '@app/primitives';
import { lockSubject, type Subject, SUBJECT_WHERE, subjectAt } from '@app/subjects';
import type { CategoryStates, Consent, RevokedConsent } from './consent.entity';

const SUBJECT = ['bot_id', 'guild_id', 'user_id'];
const DECIDED = [
  'id',
  'status',
  'version',
  'categories',
  'requested_at',
  'accepted_at',
  'revoked_at',
  'erasing',
];
const PENDING = ['pending_id', 'pending_version', 'pending_categories', 'pending_requested_at'];
const CHANGING = [...DECIDED, ...PENDING, 'before_request'];

export const SELECT = `SELECT ${[...SUBJECT, ...CHANGING].map((column) => `consents.${column}`).join(', ')}`;

const CONFLICT = 'ON CONFLICT (bot_id, guild_id, user_id) DO';
const insertConsents = (end: string) =>
  insertion('INSERT INTO consents', [...SUBJECT, ...CHANGING], `${CONFLICT} ${end}`, ['erasing']);
const PUT = insertConsents(
  `UPDATE SET ${CHANGING.map((column) => `${column} = excluded.${column}`).join(', ')}`,
);
const CREATE = insertConsents('NOTHING');

export type Columns = Record<'bot_id' | 'id' | 'version' | 'requested_at', string> & {
  guild_id: Digest;
  user_id: Digest;
  status: Consent['status'];
  erasing: number;
} & Record<
    | 'categories'
    | 'accepted_at'
    | 'revoked_at'
    | 'pending_id'
    | 'pending_version'
    | 'pending_categories'
    | 'pending_requested_at'
    | 'before_request',
    string | null
  >;

function json(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

/** A stored JSON text. */
export function parsed<T>(text: string | null): T | null {
  return text === null ? null : (JSON.parse(text) as T);
}

export function consentOf(row: Columns | undefined): Consent | null {
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

/** The consent of a subject; null for the status `none`. */
export async function findConsent(tx: Tx, { botId, guildId, userId }: Subject): Promise<Consent | null> {
  return consentOf(
    await tx.get<Columns>(`${SELECT} FROM consents WHERE ${SUBJECT_WHERE}`, botId, guildId, userId),
  );
}

/** {@link findConsent}, locked until the unit ends: no other unit changes the consent or stores under it. */
export async function lockConsent(tx: Tx, { botId, guildId, userId }: Subject): Promise<Consent | null> {
  return consentOf(
    await tx.get<Columns>(
      `${SELECT} FROM consents WHERE ${SUBJECT_WHERE} FOR UPDATE`,
      botId,
      guildId,
      userId,
    ),
  );
}

/** {@link lockConsent}. Where there is none, only this unit can create one until it ends. */
export async function lockConsentOrItsLack(tx: Tx, subject: Subject): Promise<Consent | null> {
  const found = await lockConsent(tx, subject);
  if (found !== null || tx.engine === 'sqlite') return found;
  return (await Promise.all([lockSubject(tx, subject, 'alone'), lockConsent(tx, subject)]))[1];
}

/** Locks a subject against erasure and against changes of its consent until the unit ends. */
export async function holdSubject(tx: Tx, { botId, guildId, userId }: Subject): Promise<void> {
  await tx.get(`SELECT 1 FROM consents WHERE ${SUBJECT_WHERE} FOR UPDATE`, botId, guildId, userId);
}

/** At most `limit` consents of a bot that name a category, locked for the unit that removes the category. */
export async function consentsNaming(
  tx: Tx,
  botId: string,
  category: string,
  limit: number,
): Promise<Consent[]> {
  // The underscore is the only character of a slug with a meaning in LIKE.
  const key = `"${category.replaceAll('_', '\\_')}"`;
  const rows = await tx.all<Columns>(
    `${SELECT} FROM consents WHERE bot_id = ? AND (categories LIKE ? ESCAPE '\\' OR pending_categories LIKE ? ESCAPE '\\'
       OR before_request LIKE ? ESCAPE '\\') ORDER BY guild_id, user_id LIMIT ${limit} FOR UPDATE`,
    ...[botId, `%${key}:%`, `%${key}%`, `%"categories":{%${key}:"%`],
  );
  return rows.map((row) => consentOf(row)).filter((found) => found !== null);
}

/** The consent with this request id, decided or waiting; locked like {@link lockConsent}. */
export async function findConsentOfRequest(tx: Tx, botId: string, id: string): Promise<Consent | null> {
  const row =
    (await tx.get<Columns>(
      `${SELECT} FROM consents WHERE bot_id = ? AND pending_id = ? FOR UPDATE`,
      botId,
      id,
    )) ??
    (await tx.get<Columns>(`${SELECT} FROM consents WHERE bot_id = ? AND id = ? FOR UPDATE`, botId, id));
  return consentOf(row);
}

const OF_REQUEST = (column: 'pending_id' | 'id') =>
  `SELECT given.place, consents.bot_id, consents.guild_id, consents.user_id
   FROM unnest(?::text[], ?::text[]) WITH ORDINALITY AS given (bot_id, id, place)
   JOIN consents ON consents.bot_id = given.bot_id AND consents.${column} = given.id`;

/** The subjects of requests, not locked; undefined for an unknown one. PostgreSQL only. */
export async function findSubjectsOfRequests(
  tx: Tx,
  requests: readonly { readonly botId: string; readonly id: string | null }[],
): Promise<(Subject | undefined)[]> {
  const values = [requests.map(({ botId }) => botId), requests.map(({ id }) => id)];
  const found = new Array<Subject | undefined>(requests.length).fill(undefined);
  for (const row of await tx.all<Columns & { place: number }>(
    `${OF_REQUEST('pending_id')} UNION ALL ${OF_REQUEST('id')}`,
    ...[...values, ...values],
  ))
    found[row.place - 1] = subjectAt(row.bot_id, row);
  return found;
}

/** Removes a consent that the unit has locked. */
export async function removeConsent(tx: Tx, { botId, guildId, userId }: Subject): Promise<void> {
  await tx.run(`DELETE FROM consents WHERE ${SUBJECT_WHERE}`, botId, guildId, userId);
}

/** Updates consents that the unit has locked. */
export async function putConsents(tx: Tx, given: readonly Omit<Consent, 'bot'>[]): Promise<void> {
  await PUT(tx, given.map(valuesOf));
}

/** Inserts the first consents of subjects. @throws ConcurrentChange when another unit has inserted one of them. */
export async function createConsents(tx: Tx, given: readonly Omit<Consent, 'bot'>[]): Promise<void> {
  if ((await CREATE(tx, given.map(valuesOf))) < given.length) throw new ConcurrentChange();
}

function valuesOf(given: Omit<Consent, 'bot'>): SqlValue[] {
  const {
    botId,
    guildId,
    userId,
    id,
    status,
    version,
    categories,
    requestedAt,
    acceptedAt,
    revokedAt,
    erasing,
  } = given;
  const { pendingId, pendingVersion, pendingCategories, pendingRequestedAt, beforeRequest } = given;
  const decided = [id, status, version, json(categories), requestedAt, acceptedAt, revokedAt, erasing];
  const pending = [pendingId, pendingVersion, json(pendingCategories), pendingRequestedAt];
  return [botId, guildId, userId, ...decided, ...pending, json(beforeRequest)];
}
