import { ConcurrentChange, type SqlValue, type Tx, type UnitOfWork } from '@app/database';
import type { Digest } from '@app/primitives';
import { lockSubject, type Subject, SUBJECT_WHERE } from '@app/subjects';
import type { CategoryStates, Consent } from './consent.entity';

const COLUMNS = `bot_id, guild_id, user_id, id, status, version, categories, requested_at, accepted_at, revoked_at, erasing,
  pending_id, pending_version, pending_categories, pending_requested_at`;

const SELECT = `SELECT ${COLUMNS} FROM consents`;

const INSERT = `INSERT INTO consents (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

const PUT = `${INSERT}
  ON CONFLICT (bot_id, guild_id, user_id) DO UPDATE SET
    id = excluded.id, status = excluded.status, version = excluded.version, categories = excluded.categories,
    requested_at = excluded.requested_at, accepted_at = excluded.accepted_at, revoked_at = excluded.revoked_at,
    erasing = excluded.erasing, pending_id = excluded.pending_id, pending_version = excluded.pending_version,
    pending_categories = excluded.pending_categories, pending_requested_at = excluded.pending_requested_at`;

type Columns = Record<'bot_id' | 'id' | 'version' | 'requested_at', string> & {
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
    | 'pending_requested_at',
    string | null
  >;

function json(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

function parsed<T>(text: string | null): T | null {
  return text === null ? null : (JSON.parse(text) as T);
}

function consent(row: Columns | undefined): Consent | null {
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
  };
}

/** The consent of a subject; null for the status `none`. */
export async function findConsent(tx: Tx, { botId, guildId, userId }: Subject): Promise<Consent | null> {
  return consent(await tx.get<Columns>(`${SELECT} WHERE ${SUBJECT_WHERE}`, botId, guildId, userId));
}

/** {@link findConsent}, locked until the unit ends: no other unit changes the consent or stores under it. */
export async function lockConsent(tx: Tx, { botId, guildId, userId }: Subject): Promise<Consent | null> {
  return consent(
    await tx.get<Columns>(`${SELECT} WHERE ${SUBJECT_WHERE} FOR UPDATE`, botId, guildId, userId),
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

/** The part of a consent that its status shows. */
export type ShownConsent = Pick<
  Consent,
  'status' | 'version' | 'categories' | 'acceptedAt' | 'revokedAt' | 'pendingVersion' | 'pendingCategories'
>;

const SELECT_STATUS = `SELECT status, version, categories, accepted_at, revoked_at, pending_version, pending_categories
  FROM consents WHERE ${SUBJECT_WHERE}`;

/** The shown part of {@link findConsent} in one small read, since bots ask for it before every act. */
export async function findStatus(
  unitOfWork: UnitOfWork,
  { botId, guildId, userId }: Subject,
): Promise<ShownConsent | null> {
  const row = await unitOfWork.get<Columns>(SELECT_STATUS, botId, guildId, userId);
  if (row === undefined) return null;
  return {
    status: row.status,
    version: row.version,
    categories: parsed<CategoryStates>(row.categories),
    acceptedAt: row.accepted_at,
    revokedAt: row.revoked_at,
    pendingVersion: row.pending_version,
    pendingCategories: parsed<string[]>(row.pending_categories),
  };
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
    `${SELECT} WHERE bot_id = ? AND (categories LIKE ? ESCAPE '\\' OR pending_categories LIKE ? ESCAPE '\\')
     ORDER BY guild_id, user_id LIMIT ${limit} FOR UPDATE`,
    botId,
    `%${key}:%`,
    `%${key}%`,
  );
  return rows.map((row) => consent(row)).filter((found) => found !== null);
}

/** The consent with this request id, decided or waiting; locked like {@link lockConsent}. */
export async function findConsentOfRequest(tx: Tx, botId: string, id: string): Promise<Consent | null> {
  const row =
    (await tx.get<Columns>(`${SELECT} WHERE bot_id = ? AND pending_id = ? FOR UPDATE`, botId, id)) ??
    (await tx.get<Columns>(`${SELECT} WHERE bot_id = ? AND id = ? FOR UPDATE`, botId, id));
  return consent(row);
}

/** Updates a consent that the unit has locked. */
export async function putConsent(tx: Tx, given: Omit<Consent, 'bot'>): Promise<void> {
  await tx.run(PUT, ...valuesOf(given));
}

/** Inserts the first consent of a subject. @throws ConcurrentChange when another unit has inserted one. */
export async function createConsent(tx: Tx, given: Omit<Consent, 'bot'>): Promise<void> {
  const inserted = await tx.run(
    `${INSERT} ON CONFLICT (bot_id, guild_id, user_id) DO NOTHING`,
    ...valuesOf(given),
  );
  if (inserted === 0) throw new ConcurrentChange();
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
  const { pendingId, pendingVersion, pendingCategories, pendingRequestedAt } = given;
  const decided = [id, status, version, json(categories), requestedAt, acceptedAt, revokedAt, erasing];
  const pending = [pendingId, pendingVersion, json(pendingCategories), pendingRequestedAt];
  return [botId, guildId, userId, ...decided, ...pending];
}
