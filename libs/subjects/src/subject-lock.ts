import type { Tx } from '@app/database';
import { type Subject, subjectName } from './subject';

/**
 * Separates an erasure from writes about its subject that do not pass the consent gate, such as an event of a bot.
 * Writers share the lock, an erasure has it alone, each until its unit ends. An act behind the consent gate needs no
 * lock. On SQLite units run one after the other.
 */
export async function lockSubject(tx: Tx, subject: Subject, mode: 'together' | 'alone'): Promise<void> {
  if (tx.engine !== 'postgres') return;
  const lock = mode === 'alone' ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared';
  await tx.get(`SELECT ${lock}(hashtextextended(?, 0))`, subjectName(subject));
}

/** {@link lockSubject} `alone` of several subjects, in the same order everywhere. */
export async function lockSubjects(tx: Tx, subjects: readonly Subject[]): Promise<void> {
  if (tx.engine !== 'postgres') return;
  await tx.all(
    `SELECT pg_advisory_xact_lock(hashtextextended(name, 0))
     FROM (SELECT name FROM unnest(?::text[]) AS given (name) ORDER BY name) AS ordered`,
    subjects.map(subjectName),
  );
}

/** {@link lockSubject} of several subjects that waits for nothing: answers for each whether it is locked. PostgreSQL only. */
export async function tryLockSubjects(
  tx: Tx,
  subjects: readonly Subject[],
  mode: 'together' | 'alone' = 'alone',
): Promise<boolean[]> {
  const lock = mode === 'alone' ? 'pg_try_advisory_xact_lock' : 'pg_try_advisory_xact_lock_shared';
  const rows = await tx.all<{ locked: boolean }>(
    `SELECT ${lock}(hashtextextended(name, 0)) AS locked
     FROM (SELECT name, place FROM unnest(?::text[]) WITH ORDINALITY AS given (name, place) ORDER BY place) AS ordered`,
    subjects.map(subjectName),
  );
  return rows.map(({ locked }) => locked);
}
