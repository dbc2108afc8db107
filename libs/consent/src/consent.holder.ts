import { Injectable } from '@nestjs/common';
import type { Tx } from '@app/database';
import {
  HoldsSubjectData,
  type Subject,
  SUBJECT_WHERE,
  type SubjectDataHolder,
  type SubjectExport,
} from '@app/subjects';
import { historyOf } from './consent-history';
import { findConsent } from './consent.sql';

/** The subject's consent and its history. */
@Injectable()
@HoldsSubjectData()
export class ConsentHolder implements SubjectDataHolder {
  readonly tables = ['consents', 'consent_history'];

  async export(tx: Tx, subject: Subject, full: boolean): Promise<SubjectExport> {
    const found = await findConsent(tx, subject);
    const consent = found && { status: found.status, version: found.version, acceptedAt: found.acceptedAt };
    return {
      ...(consent !== null && { consent }),
      ...(full && { full: { consent_history: historyOf(tx, subject) } }),
    };
  }

  async erase(tx: Tx, { botId, guildId, userId }: Subject): Promise<readonly string[]> {
    for (const table of this.tables) {
      await tx.run(`DELETE FROM ${table} WHERE ${SUBJECT_WHERE}`, botId, guildId, userId);
    }
    return [];
  }
}
