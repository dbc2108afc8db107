import { givenRows, type Tx } from '@app/database';
import { amongSubjects, givenSubjects, type Subject, tryLockSubjects } from '@app/subjects';
import type { Consent } from './consent.entity';
import { type Columns, consentOf, SELECT } from './consent.sql';

/** The consents of the subjects `given`. */
const OF_GIVEN = `JOIN consents ON consents.bot_id = given.bot_id AND consents.guild_id = given.guild_id
  AND consents.user_id = given.user_id`;
const IN_ORDER = 'ORDER BY consents.bot_id, consents.guild_id, consents.user_id FOR UPDATE OF consents';

/** Locks the consents of subjects, in the same order everywhere. On SQLite units run one after the other. */
export async function lockConsents(tx: Tx, subjects: readonly Subject[]): Promise<void> {
  if (tx.engine !== 'postgres') return;
  const given = givenSubjects(tx, subjects);
  await tx.all(`SELECT given.place FROM ${given.sql} ${OF_GIVEN} ${IN_ORDER}`, ...given.values);
}

/**
 * {@link lockConsents} that waits for no other unit: null for a subject without a consent, undefined for one whose consent
 * another unit has locked. PostgreSQL only.
 */
export async function tryLockConsents(
  tx: Tx,
  subjects: readonly Subject[],
): Promise<(Consent | null | undefined)[]> {
  const given = givenSubjects(tx, subjects);
  const [held, all] = await Promise.all([
    tryHoldConsents(tx, subjects),
    tx.all<{ place: number }>(`SELECT given.place FROM ${given.sql} ${OF_GIVEN}`, ...given.values),
  ]);
  const consents: (Consent | null | undefined)[] = held;
  const stored = new Set(all.map(({ place }) => Number(place)));
  return consents.map((consent, at) => (stored.has(at + 1) ? consent : null));
}

/** The consents of subjects, in their order. */
export function findConsents(tx: Tx, subjects: readonly Subject[]): Promise<(Consent | undefined)[]> {
  return consentsOf(tx, subjects, '');
}

/** Locks the consents of subjects that no other unit has locked; undefined for the others, and where none is stored. PostgreSQL only. */
export function tryHoldConsents(tx: Tx, subjects: readonly Subject[]): Promise<(Consent | undefined)[]> {
  return consentsOf(tx, subjects, `${IN_ORDER} SKIP LOCKED`);
}

async function consentsOf(
  tx: Tx,
  subjects: readonly Subject[],
  end: string,
): Promise<(Consent | undefined)[]> {
  const given = givenSubjects(tx, subjects);
  const rows = await tx.all<Columns & { readonly place: number }>(
    `${SELECT}, given.place FROM ${given.sql} ${OF_GIVEN} ${end}`,
    ...given.values,
  );
  const consents = new Array<Consent | undefined>(subjects.length).fill(undefined);
  for (const row of rows) consents[row.place - 1] = consentOf(row) ?? undefined;
  return consents;
}

/** {@link tryLockConsents}. Where the answer is null, only this unit can create a consent until it ends. */
export async function tryLockSubjectsAndConsents(
  tx: Tx,
  subjects: readonly Subject[],
): Promise<(Consent | null | undefined)[]> {
  const [named, consents] = await Promise.all([tryLockSubjects(tx, subjects), tryLockConsents(tx, subjects)]);
  return consents.map((consent, at) => (named[at] === true ? consent : undefined));
}

/** Marks the consents of subjects as being erased. A subject without a consent gets one with the status `none`. */
export async function closeConsents(
  tx: Tx,
  subjects: readonly Subject[],
  closedAt: string,
  newId: () => string,
): Promise<void> {
  const rows = subjects.map(({ botId, guildId, userId }) => [botId, guildId, userId, newId()]);
  const given = givenRows(tx, ['bot_id', 'guild_id', 'user_id', 'id'], rows);
  await tx.run(
    `INSERT INTO consents (bot_id, guild_id, user_id, id, status, version, requested_at, erasing)
     SELECT bot_id, guild_id, user_id, id, 'none', '', ?, 1 FROM ${given.sql} WHERE place > 0
     ORDER BY bot_id, guild_id, user_id
     ON CONFLICT (bot_id, guild_id, user_id) DO UPDATE SET erasing = 1`,
    ...[closedAt, ...given.values],
  );
}

/** Ends {@link closeConsents}. */
export async function reopenConsents(tx: Tx, subjects: readonly Subject[]): Promise<void> {
  const among = amongSubjects(tx, subjects);
  await Promise.all([
    tx.run(`DELETE FROM consents WHERE ${among.sql} AND status = 'none'`, ...among.values),
    tx.run(`UPDATE consents SET erasing = 0 WHERE ${among.sql} AND erasing <> 0`, ...among.values),
  ]);
}
