import { givenRows, type Tx } from '@app/database';
import { amongSubjects, givenSubjects, lockSubjects, type Subject, tryLockSubjects } from '@app/subjects';
import type { Consent } from './consent.entity';
import { holdConsents } from './consent.sql';

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
    holdConsents(tx, subjects, false),
    tx.all<{ place: number }>(`SELECT given.place FROM ${given.sql} ${OF_GIVEN}`, ...given.values),
  ]);
  const stored = new Set(all.map(({ place }) => Number(place)));
  return held.map((consent, at) => consent ?? (stored.has(at + 1) ? undefined : null));
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
