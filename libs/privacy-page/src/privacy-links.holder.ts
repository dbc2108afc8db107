import { Injectable } from '@nestjs/common';
import type { Tx } from '@app/database';
import {
  amongSubjects,
  HoldsSubjectData,
  type Subject,
  type SubjectDataHolder,
  type SubjectExport,
} from '@app/subjects';

/** Erases the links of a subject. A link for all guilds is about no guild, and lives on for the guilds that are left. */
@Injectable()
@HoldsSubjectData()
export class PrivacyLinksHolder implements SubjectDataHolder {
  readonly tables = ['privacy_links'];

  /** A link holds nothing about a user beyond the ids. */
  async export(): Promise<SubjectExport> {
    return {};
  }

  async exportAll(_tx: Tx, subjects: readonly Subject[]): Promise<SubjectExport[]> {
    return subjects.map(() => ({}));
  }

  async erase(tx: Tx, subjects: readonly Subject[]): Promise<readonly []> {
    const among = amongSubjects(tx, subjects);
    await tx.run(`DELETE FROM privacy_links WHERE ${among.sql}`, ...among.values);
    return [];
  }
}
