import { Injectable } from '@nestjs/common';
import { pages, type Tx } from '@app/database';
import { HoldsSubjectData, type Subject, type SubjectDataHolder, type SubjectExport } from '@app/subjects';
import { AuditService } from './audit.service';
import { conditionOf } from './audit.sql';

/** Users in one answer of `subjectsOf`. */
const SUBJECTS_MAX = 1_000;
/** Events of a user read by one statement. */
const EVENTS_AT_ONCE = 2_000;

/** The subject's part of the audit log. An export holds all of it; an erasure keeps only the fact of each act (Art. 5(2)). */
@Injectable()
@HoldsSubjectData()
export class AuditHolder implements SubjectDataHolder {
  readonly tables = ['audit_events'];
  /** Erased last: a unit that the other holders waited for may have written an event with details. */
  readonly last = true;

  constructor(private readonly audit: AuditService) {}

  async export(tx: Tx, subject: Subject, full: boolean): Promise<SubjectExport> {
    return full ? { full: { audit_events: this.audit.ofSubject(tx, subject) } } : {};
  }

  async erase(tx: Tx, subject: Subject): Promise<readonly string[]> {
    await this.audit.eraseSubject(tx, subject);
    return [];
  }

  /** Users in events that the bot posted, also without a consent. Digests begin with a tilde and are left out. */
  async subjectsOf(tx: Tx, botId: string, guildId: string): Promise<readonly string[]> {
    const rows = await tx.all<{ user_id: string }>(
      `SELECT DISTINCT user_id FROM audit_events
       WHERE bot_id = ? AND guild_id = ? AND source = 'client' AND user_id < '~' LIMIT ${SUBJECTS_MAX}`,
      botId,
      guildId,
    );
    return rows.map((row) => row.user_id);
  }

  /** Found by the events that name the user; reads an index only, one part at a time. */
  async *guildsOf(tx: Tx, botId: string, userId: string): AsyncGenerator<string> {
    const read = (after?: { seq: number }): Promise<{ guild_id: string; seq: number }[]> =>
      tx.all(
        `SELECT guild_id, seq FROM audit_events WHERE bot_id = ? AND user_id = ? AND seq > ?
         ORDER BY seq LIMIT ${EVENTS_AT_ONCE}`,
        ...[botId, userId, after?.seq ?? 0],
      );
    for await (const rows of pages(EVENTS_AT_ONCE, read)) yield* new Set(rows.map((row) => row.guild_id));
  }

  /** True while any event names the user. */
  async holds(tx: Tx, { botId, guildId, userId }: Subject): Promise<boolean> {
    const where = conditionOf(tx.engine, ['user_id', 'guild_id']);
    return (
      (await tx.get(`SELECT 1 FROM audit_events WHERE ${where} LIMIT 1`, botId, userId, guildId)) !==
      undefined
    );
  }
}
