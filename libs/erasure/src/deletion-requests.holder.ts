import { Injectable } from '@nestjs/common';
import { pages, type Tx } from '@app/database';
import {
  HoldsSubjectData,
  type Subject,
  SUBJECT_WHERE,
  type SubjectDataHolder,
  type SubjectExport,
} from '@app/subjects';
import { In } from 'typeorm';
import { DeletionRequest } from './deletion-request.entity';
import { ErasedSubject } from './erased-subject';
import { deletionView } from './erasure-requests.service';
import type { DeletionRequestView } from './erasure.dto';

/** Requests of one read. */
const BATCH = 100;
const PLACES = `SELECT id FROM deletion_requests WHERE ${SUBJECT_WHERE} AND id > ?`;

/** The erasure requests of a subject: exported in full, and kept as proof of each erasure (Art. 5(2), 17(3)(e)). */
@Injectable()
@HoldsSubjectData()
export class DeletionRequestsHolder implements SubjectDataHolder {
  readonly tables = ['deletion_requests'];
  readonly outlivesErasure = true;

  constructor(private readonly erased: ErasedSubject) {}

  async export(tx: Tx, subject: Subject, full: boolean): Promise<SubjectExport> {
    return full ? { full: { deletion_requests: this.requestsOf(tx, subject) } } : {};
  }

  /** Replaces the ids in failed requests, which are stored unencrypted until the subject is erased. */
  async erase(tx: Tx, subject: Subject): Promise<readonly string[]> {
    const { botId, guildId, userId } = subject;
    const failed = await tx.all<{ id: string }>(
      `SELECT id FROM deletion_requests WHERE ${SUBJECT_WHERE} AND status = 'failed'`,
      ...[botId, guildId, userId],
    );
    for (const { id } of failed) {
      const erased = this.erased.columnsOf(subject, id);
      await tx.run(
        'UPDATE deletion_requests SET guild_id = ?, user_id = ?, subject = ? WHERE bot_id = ? AND id = ?',
        ...[erased.guildId, erased.userId, erased.subject, botId, id],
      );
    }
    return [];
  }

  /** Oldest first. */
  private async *requestsOf(tx: Tx, subject: Subject): AsyncGenerator<DeletionRequestView> {
    const { botId } = subject;
    const [guildId, userId, erasedGuildId, erasedUserId] = this.erased.namesOf(subject);
    const read = (after = { id: '' }): Promise<{ id: string }[]> =>
      tx.all(
        `${PLACES} UNION ALL ${PLACES} ORDER BY id LIMIT ${BATCH}`,
        ...[botId, guildId, userId, after.id, botId, erasedGuildId, erasedUserId, after.id],
      );
    for await (const places of pages(BATCH, read)) {
      const ids = places.map(({ id }) => id);
      const requests = await tx.manager.find(DeletionRequest, {
        where: { botId, id: In(ids) },
        order: { id: 'ASC' },
      });
      for (const request of requests) yield deletionView(request, subject);
    }
  }
}
