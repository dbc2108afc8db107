import { Injectable } from '@nestjs/common';
import {
  amongSubjects,
  type ConsentedDataHolder,
  type Digest,
  EndsWithDeclaration,
  HoldsConsentedData,
  HoldsSubjectData,
  type Subject,
  subjectAt,
  type SubjectDataHolder,
  type SubjectExport,
  withoutIndex,
} from '@app/crypto';
import type { Tx } from '@app/database';
import { refusalsOf } from './processing-refusals.sql';

/** The objections and restrictions of a subject. They are erased with it, and end with the declaration of their category. */
@Injectable()
@HoldsSubjectData()
@HoldsConsentedData()
export class ProcessingRefusalHolder
  extends EndsWithDeclaration
  implements SubjectDataHolder, ConsentedDataHolder
{
  readonly tables = ['processing_refusals'];

  async export(tx: Tx, subject: Subject, full: boolean): Promise<SubjectExport> {
    const rows = full ? await refusalsOf(tx, subject) : [];
    if (rows.length === 0) return {};
    const shown = rows.map(({ kind, category_key: key, created_at }) => ({
      kind,
      category: key === '' ? null : key,
      created_at,
    }));
    return { isHeld: true, full: { processing_refusals: shown } };
  }

  async erase(tx: Tx, subjects: readonly Subject[]): Promise<readonly []> {
    const among = amongSubjects(tx, subjects);
    await tx.run(`DELETE FROM processing_refusals WHERE ${among.sql}`, ...among.values);
    return [];
  }

  async eraseCategory(tx: Tx, botId: string, category: string, limit: number): Promise<number> {
    const rows = await tx.all<Record<'guild_id' | 'user_id', Digest>>(
      `SELECT guild_id, user_id FROM processing_refusals WHERE bot_id = ? AND category_key = ? LIMIT ${limit}`,
      ...[botId, category],
    );
    if (rows.length === 0) return 0;
    const among = amongSubjects(
      tx,
      rows.map((row) => subjectAt(botId, row)),
    );
    await tx.run(
      `DELETE FROM processing_refusals WHERE ${among.sql} AND ${withoutIndex('category_key')} = ?`,
      ...[...among.values, category],
    );
    return rows.length;
  }
}
