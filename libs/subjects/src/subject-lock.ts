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
