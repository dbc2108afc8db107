import { Injectable } from '@nestjs/common';
import type { Tx, UnitOfWork } from '@app/database';
import { givenSubjects, type Subject, SUBJECT_WHERE } from '@app/subjects';

/** Answers for other libraries which erasures a subject had, and takes their confirmations. */
@Injectable()
export class SubjectErasures {
  /** The request ids as one text: their number would also change when old records are removed. */
  async idsOf(tx: Tx, { botId, guildId, userId }: Subject): Promise<string> {
    const sql = `SELECT id FROM deletion_requests WHERE ${SUBJECT_WHERE}`;
    const found = await tx.all<{ id: string }>(sql, botId, guildId, userId);
    return found.map(({ id }) => id).join(' ');
  }

  /** For each subject, whether no erasure of it is under way. PostgreSQL only. */
  async areOpen(tx: Tx, subjects: readonly Subject[]): Promise<boolean[]> {
    const given = givenSubjects(tx, subjects);
    const rows = await tx.all<{ place: number }>(
      `SELECT given.place FROM ${given.sql} JOIN deletion_requests AS asked ON asked.bot_id = given.bot_id
         AND asked.guild_id = given.guild_id AND asked.user_id = given.user_id AND asked.status = 'processing'`,
      ...given.values,
    );
    const closed = new Set(rows.map(({ place }) => Number(place)));
    return subjects.map((_, at) => !closed.has(at + 1));
  }

  /** Whether an erasure is under way, or one took place that is not among the `known` ids of {@link idsOf}. */
  async areOthers(
    reader: Pick<UnitOfWork, 'get'>,
    { botId, guildId, userId }: Subject,
    known?: string,
  ): Promise<boolean> {
    const found = await reader.get<{ unknown: number | string; processing: number | string }>(
      `SELECT COUNT(CASE WHEN ? NOT LIKE '%' || id || '%' THEN 1 END) AS unknown,
         COUNT(CASE WHEN status = 'processing' THEN 1 END) AS processing
       FROM deletion_requests WHERE ${SUBJECT_WHERE}`,
      ...[known ?? '', botId, guildId, userId],
    );
    const isErased = known !== undefined && Number(found?.unknown ?? 0) > 0;
    return isErased || Number(found?.processing ?? 0) > 0;
  }
}

/** Records that the receiver of the bot confirmed `user_forgotten`. */
export async function confirmForgotten(tx: Tx, botId: string, requestId: string | null): Promise<void> {
  await tx.run('UPDATE deletion_requests SET webhook_sent = 1 WHERE bot_id = ? AND id = ?', botId, requestId);
}
