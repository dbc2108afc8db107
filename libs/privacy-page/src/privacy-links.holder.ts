import { Injectable } from '@nestjs/common';
import { SubjectDigests } from '@app/crypto';
import type { Tx } from '@app/database';
import { HoldsSubjectData, type Subject, type SubjectDataHolder, type SubjectExport } from '@app/subjects';
import { ALL_GUILDS } from './privacy-link.entity';
import { endLinks } from './privacy-links.sql';

/** Erases the links of a subject. A link for all guilds ends with the last guild in which anything is held. */
@Injectable()
@HoldsSubjectData()
export class PrivacyLinksHolder implements SubjectDataHolder {
  readonly tables = ['privacy_links'];

  constructor(private readonly digests: SubjectDigests) {}

  /** A link holds nothing about a user beyond the ids. */
  async export(): Promise<SubjectExport> {
    return {};
  }

  async exportAll(_tx: Tx, subjects: readonly Subject[]): Promise<SubjectExport[]> {
    return subjects.map(() => ({}));
  }

  async erase(tx: Tx, subjects: readonly Subject[]): Promise<readonly []> {
    await endLinks(tx, subjects, (botId) => this.digests.guild(botId, ALL_GUILDS));
    return [];
  }
}
