import { Injectable } from '@nestjs/common';
import type { Tx, UnitOfWork } from '@app/database';
import type { Subject } from '@app/subjects';
import { ErasedSubject } from './erased-subject';

const OF_SUBJECT = '((guild_id = ? AND user_id = ?) OR (guild_id = ? AND user_id = ?))';

/** Answers for other libraries which erasures a subject had, and takes their confirmations. */
@Injectable()
export class SubjectErasures {
  constructor(private readonly erased: ErasedSubject) {}

  /** The request ids as one text: their number would also change when old records are removed. */
  async idsOf(tx: Tx, subject: Subject): Promise<string> {
    const sql = `SELECT id FROM deletion_requests WHERE bot_id = ? AND ${OF_SUBJECT}`;
    const found = await tx.all<{ id: string }>(sql, subject.botId, ...this.erased.namesOf(subject));
    return found.map(({ id }) => id).join(' ');
  }

  /** Whether an erasure is under way, or one took place that is not among the `known` ids of {@link idsOf}. */
  async areOthers(reader: Pick<UnitOfWork, 'get'>, subject: Subject, known?: string): Promise<boolean> {
    const found = await reader.get<{ unknown: number | string; processing: number | string }>(
      `SELECT COUNT(CASE WHEN ? NOT LIKE '%' || id || '%' THEN 1 END) AS unknown,
         COUNT(CASE WHEN status = 'processing' THEN 1 END) AS processing
       FROM deletion_requests WHERE bot_id = ? AND ${OF_SUBJECT}`,
      ...[known ?? '', subject.botId, ...this.erased.namesOf(subject)],
    );
    const isErased = known !== undefined && Number(found?.unknown ?? 0) > 0;
    return isErased || Number(found?.processing ?? 0) > 0;
  }
}

/** Records that the receiver of the bot confirmed `user_forgotten`. */
export async function confirmForgotten(tx: Tx, botId: string, requestId: string | null): Promise<void> {
  await tx.run('UPDATE deletion_requests SET webhook_sent = 1 WHERE bot_id = ? AND id = ?', botId, requestId);
}
