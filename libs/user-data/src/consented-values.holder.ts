import { Inject, Injectable } from '@nestjs/common';
import { AuditService } from '@app/audit';
import { legalBasisOf } from '@app/categories';
import type { Tx } from '@app/database';
import { CONFIG, type Config, daysAfter } from '@app/kernel';
import type { Digest } from '@app/primitives';
import {
  type ConsentedDataHolder,
  type ErasureTime,
  HoldsConsentedData,
  type Subject,
  subjectAt,
} from '@app/subjects';

const SUBJECT = 'bot_id = ? AND guild_id = ? AND user_id = ?';
const UNMARKED = `SELECT category_key FROM user_data WHERE ${SUBJECT} AND withdrawn_at IS NULL`;
const MARK = `UPDATE user_data SET withdrawn_at = ? WHERE ${SUBJECT} AND category_key = ?`;
/** Written so that no engine uses the index of what is marked of all users. */
const IS_MARKED = `COALESCE(withdrawn_at, '') <> ''`;
const UNMARK = `UPDATE user_data SET withdrawn_at = NULL WHERE ${SUBJECT} AND ${IS_MARKED}`;
const MARKED = `SELECT category_key, withdrawn_at FROM user_data WHERE ${SUBJECT} AND ${IS_MARKED}`;
const OF_CATEGORY = 'SELECT guild_id, user_id FROM user_data WHERE bot_id = ? AND category_key = ?';
const ERASE = `DELETE FROM user_data WHERE ${SUBJECT} AND category_key = ?`;

/**
 * The values as data under a category and a consent. Marks the values that a withdrawn consent has left, and takes the
 * mark from those that a new one covers. Values of another legal basis than consent stay unmarked.
 */
@Injectable()
@HoldsConsentedData()
export class ConsentedValues implements ConsentedDataHolder {
  constructor(
    private readonly audit: AuditService,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** No value stays under a category that is no longer declared; each user concerned has an event about it. */
  async eraseCategory(tx: Tx, botId: string, category: string, limit: number): Promise<number> {
    const rows = await tx.all<{ guild_id: Digest; user_id: Digest }>(
      `${OF_CATEGORY} LIMIT ${limit}`,
      botId,
      category,
    );
    for (const { guild_id: guildId, user_id: userId } of rows)
      await tx.run(ERASE, botId, guildId, userId, category);
    await this.audit.recordAll(
      tx,
      rows.map((row) => ({
        subject: subjectAt(botId, row),
        type: 'data_deleted' as const,
        details: { category },
      })),
    );
    return rows.length;
  }

  withdraw(tx: Tx, subject: Subject, categories: readonly string[] | null, at: string): Promise<void> {
    return this.markHeld(tx, subject, (key) => categories === null || categories.includes(key), at);
  }

  async give(tx: Tx, subject: Subject, categories: readonly string[] | null, at: string): Promise<void> {
    const given = keyOf(subject);
    if (categories === null) {
      await tx.run(UNMARK, ...given);
      return;
    }
    for (const key of categories) await tx.run(`${UNMARK} AND category_key = ?`, ...given, key);
    await this.markHeld(tx, subject, (key) => !categories.includes(key), at);
  }

  async erasureTimes(tx: Tx, subject: Subject): Promise<readonly ErasureTime[]> {
    const graceDays = this.config.revokedDataGraceDays;
    if (graceDays === undefined) return [];
    const marked = await tx.all<{ category_key: string; withdrawn_at: string }>(MARKED, ...keyOf(subject));
    return marked.map(({ category_key: key, withdrawn_at: at }) => [key, daysAfter(at, graceDays)]);
  }

  /** Of those that are held and rest on a consent; one that was marked before keeps its time. */
  private async markHeld(
    tx: Tx,
    subject: Subject,
    concerns: (key: string) => boolean,
    at: string,
  ): Promise<void> {
    const held = await tx.all<{ category_key: string }>(UNMARKED, ...keyOf(subject));
    for (const { category_key: key } of held) {
      if (!concerns(key)) continue;
      if ((await legalBasisOf(tx, subject.botId, key)) === 'consent')
        await tx.run(MARK, at, ...keyOf(subject), key);
    }
  }
}

function keyOf({ botId, guildId, userId }: Subject): string[] {
  return [botId, guildId, userId];
}
