import { Injectable } from '@nestjs/common';
import {
  HoldsSubjectData,
  type Subject,
  type SubjectDataHolder,
  type SubjectExport,
  type Tx,
} from '@app/database';
import { DeletionRequest } from './deletion-request.entity';
import { deletionView } from './gdpr.service';

/** The erasure requests of a subject: part of a full export, and kept as the evidence of each erasure (Art. 5(2), 17(3)(e)). */
@Injectable()
@HoldsSubjectData()
export class GdprHolder implements SubjectDataHolder {
  readonly tables = ['deletion_requests'];

  async export(tx: Tx, { botId, guildId, userId }: Subject, full: boolean): Promise<SubjectExport> {
    if (!full) return {};
    const requests = await tx.manager.find(DeletionRequest, {
      where: { botId, guildId, userId },
      order: { id: 'ASC' },
    });
    return { full: { deletion_requests: requests.map(deletionView) } };
  }

  async erase(): Promise<readonly string[]> {
    return [];
  }
}
