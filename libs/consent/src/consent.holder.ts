import { Injectable } from '@nestjs/common';
import { eachOf, type Tx } from '@app/database';
import {
  HoldsSubjectData,
  type Subject,
  SUBJECT_WHERE,
  type SubjectDataHolder,
  type SubjectExport,
} from '@app/subjects';
import { historyOf } from './consent-history';
import { findConsent } from './consent.sql';
import { historyEntryView } from './consent.views';

/** Guilds of one user that are read at once. */
const GUILDS_AT_ONCE = 500;

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
      ...(full && { full: { consent_history: (await historyOf(tx, subject)).map(historyEntryView) } }),
    };
  }

  async erase(tx: Tx, { botId, guildId, userId }: Subject): Promise<readonly string[]> {
    for (const table of this.tables) {
      await tx.run(`DELETE FROM ${table} WHERE ${SUBJECT_WHERE}`, botId, guildId, userId);
    }
    return [];
  }

  async subjectsOf(tx: Tx, botId: string, guildId: string): Promise<readonly string[]> {
    const rows = await tx.all<{ user_id: string }>(
      'SELECT user_id FROM consents WHERE bot_id = ? AND guild_id = ? LIMIT 1000',
      botId,
      guildId,
    );
    return rows.map(({ user_id }) => user_id);
  }

  /** Nothing is stored without a consent, so these are the guilds of the stored values as well. */
  async *guildsOf(tx: Tx, botId: string, userId: string): AsyncGenerator<string> {
    const read = (after?: { guild_id: string }): Promise<{ guild_id: string }[]> =>
      tx.all(
        `SELECT guild_id FROM consents WHERE bot_id = ? AND user_id = ? AND guild_id > ?
         ORDER BY guild_id LIMIT ${GUILDS_AT_ONCE}`,
        ...[botId, userId, after?.guild_id ?? ''],
      );
    for await (const row of eachOf(GUILDS_AT_ONCE, read)) yield row.guild_id;
  }

  async holds(tx: Tx, { botId, guildId, userId }: Subject): Promise<boolean> {
    const sql = `SELECT 1 FROM consents WHERE ${SUBJECT_WHERE}`;
    return (await tx.get(sql, botId, guildId, userId)) !== undefined;
  }
}
