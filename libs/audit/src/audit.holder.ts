import { Injectable } from '@nestjs/common';
import {
  HoldsSubjectData,
  type Subject,
  type SubjectDataHolder,
  type SubjectExport,
  type Tx,
} from '@app/database';
import { AuditService } from './audit.service';
import { conditionOf } from './audit.sql';

/** Users named at once. */
const SUBJECTS_MAX = 1_000;

/** The subject's part of the audit log: exported in full; erased but for the fact of each act (Art. 5(2)). */
@Injectable()
@HoldsSubjectData()
export class AuditHolder implements SubjectDataHolder {
  readonly tables = ['audit_events'];
  /** A unit that the others have waited for may have written an event whose details go too. */
  readonly last = true;

  constructor(private readonly audit: AuditService) {}

  async export(tx: Tx, subject: Subject, full: boolean): Promise<SubjectExport> {
    return full ? { full: { audit_events: this.audit.ofSubject(tx, subject) } } : {};
  }

  async erase(tx: Tx, subject: Subject): Promise<readonly string[]> {
    await this.audit.eraseSubject(tx, subject);
    return [];
  }

  /** Users of whom a bot may have posted events without ever asking for their consent. */
  async subjectsOf(tx: Tx, botId: string, guildId: string): Promise<readonly string[]> {
    const rows = await tx.all<{ user_id: string }>(
      `SELECT DISTINCT user_id FROM audit_events
       WHERE bot_id = ? AND guild_id = ? AND source = 'client' AND details IS NOT NULL LIMIT ${SUBJECTS_MAX}`,
      botId,
      guildId,
    );
    return rows.map((row) => row.user_id);
  }

  async holds(tx: Tx, { botId, guildId, userId }: Subject): Promise<boolean> {
    const where = conditionOf(tx.engine, ['user_id', 'guild_id']);
    const sql = `SELECT 1 FROM audit_events WHERE ${where} AND source = 'client' AND details IS NOT NULL LIMIT 1`;
    return (await tx.get(sql, botId, userId, guildId)) !== undefined;
  }
}
