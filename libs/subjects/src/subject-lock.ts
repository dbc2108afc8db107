import type { Tx } from '@app/database';
import { type Subject, subjectName } from './subject';

/**
 * Keeps apart what is written about a subject without its consent, such as an event that a bot posts, and its erasure:
 * writers hold the subject together, an erasure alone, each until its unit ends. Whoever passes the consent gate needs
 * no more than that. On SQLite units take turns anyway.
 */
export async function lockSubject(tx: Tx, subject: Subject, mode: 'together' | 'alone'): Promise<void> {
  if (tx.engine !== 'postgres') return;
  const lock = mode === 'alone' ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared';
  await tx.get(`SELECT ${lock}(hashtextextended(?, 0))`, subjectName(subject));
}
