import { Injectable } from '@nestjs/common';
import { eachOf, type Tx } from '@app/database';
import { HoldsSubjectData, type NamedSubject, type SubjectDataHolder, type SubjectExport } from '@app/crypto';
import { MoreThan } from 'typeorm';
import { DeletionRequest } from './deletion-request.entity';
import { deletionView } from './erasure-requests.service';
import type { DeletionRequestView } from './erasure.dto';

/** Requests of one read; each may name all categories. */
const BATCH = 10;

/** The erasure requests of a subject: exported in full, and kept as proof of each erasure (Art. 5(2), 17(3)(e)). */
@Injectable()
@HoldsSubjectData()
export class DeletionRequestsHolder implements SubjectDataHolder {
  readonly tables = ['deletion_requests'];

  async export(tx: Tx, subject: NamedSubject, full: boolean): Promise<SubjectExport> {
    return full ? { full: { deletion_requests: this.requestsOf(tx, subject) } } : {};
  }

  /** Oldest first. */
  private async *requestsOf(tx: Tx, subject: NamedSubject): AsyncGenerator<DeletionRequestView> {
    const { botId, guildId, userId, ids } = subject;
    const read = (after?: DeletionRequest): Promise<DeletionRequest[]> =>
      tx.manager.find(DeletionRequest, {
        where: { botId, guildId, userId, id: MoreThan(after?.id ?? '') },
        order: { id: 'ASC' },
        take: BATCH,
      });
    for await (const request of eachOf(BATCH, read)) yield deletionView(request, ids);
  }
}
