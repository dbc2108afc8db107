import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Tx } from '@app/database';

/** Records counted by one statement; requests are answered in between. */
const BATCH = 10_000;

const PLACE = '(guild_id, user_id, category_key)';
const BEHIND = `bot_id = ? AND ${PLACE} > (?, ?, ?)`;

const BOUND = `SELECT guild_id, user_id, category_key FROM user_data WHERE ${BEHIND}
  ORDER BY guild_id, user_id, category_key LIMIT 1 OFFSET ${BATCH - 1}`;

const COUNT = `SELECT category_key, COUNT(*) AS held,
    COUNT(CASE WHEN updated_at >= ? AND updated_at < ? THEN 1 END) AS touched
  FROM user_data WHERE ${BEHIND} AND ${PLACE} <= (?, ?, ?) GROUP BY category_key`;

type Place = readonly [guildId: string, userId: string, category: string];
const BEGIN: Place = ['', '', ''];
/** Greater than every digest. */
const END: Place = ['~', '', ''];

/** The number of records, and of those whose last change was in a period. */
export interface RecordCounts {
  readonly held: number;
  readonly touched: number;
}

/** Counts records by category. A record is the value of one subject in one category. */
@Injectable()
export class StoredRecords {
  /** The period includes `from` and excludes `to`. */
  async countsOf(
    tx: Tx,
    { botId, from, to }: { readonly botId: string; readonly from: string; readonly to: string },
  ): Promise<ReadonlyMap<string, RecordCounts>> {
    const counts = new Map<string, RecordCounts>();
    for (let after = BEGIN; after !== END;) {
      const bound = await tx.get<Record<'guild_id' | 'user_id' | 'category_key', string>>(
        BOUND,
        botId,
        ...after,
      );
      const until: Place = bound === undefined ? END : [bound.guild_id, bound.user_id, bound.category_key];
      const rows = await tx.all<RecordCounts & { category_key: string }>(
        COUNT,
        ...[from, to, botId, ...after, ...until],
      );
      for (const { category_key: category, held, touched } of rows) {
        const before = counts.get(category) ?? { held: 0, touched: 0 };
        counts.set(category, { held: before.held + held, touched: before.touched + touched });
      }
      after = until;
      await nextTurn();
    }
    return counts;
  }
}
