import type { Bot } from './bot';
import type { TestDatabase } from './database';

/** How often an event type occurs in an hour: `2026-03-15T10 data_submitted` to its number. */
export type Numbers = ReadonlyMap<string, number>;

interface Shown {
  readonly buckets: readonly { readonly at: string; readonly counts: Readonly<Record<string, number>> }[];
}

/** What `GET /stats` shows of the days of a period. */
export async function shownNumbers(bot: Bot, bucket: 'hour' | 'day', query = ''): Promise<Numbers> {
  const answer = await bot.get<Shown>(`/stats?bucket=${bucket}${query}`);
  if (answer.status !== 200) throw new Error(`GET /stats was answered ${answer.status}`);
  const { buckets } = answer.data;
  const begins = buckets.map(({ at }) => at);
  if (begins.join() !== [...new Set(begins)].sort().join()) throw new Error(`not in order: ${begins.join()}`);
  return new Map(
    buckets.flatMap(({ at, counts }) =>
      Object.entries(counts)
        .filter(([, count]) => count !== 0)
        .map(([type, count]) => [`${at.slice(0, bucket === 'hour' ? 13 : 10)} ${type}`, count] as const),
    ),
  );
}

/** The same from the audit log itself. */
export async function loggedNumbers(
  database: TestDatabase,
  bot: { readonly id: string },
  bucket: 'hour' | 'day',
): Promise<Numbers> {
  const rows = await database.rows<{ at: string; type: string; total: number }>(
    `SELECT substr(created_at, 1, ${bucket === 'hour' ? 13 : 10}) AS at, event_type AS type, COUNT(*) AS total
     FROM audit_events WHERE bot_id = ? AND source = 'service' GROUP BY 1, 2`,
    bot.id,
  );
  return new Map(rows.map(({ at, type, total }) => [`${at} ${type}`, Number(total)]));
}

/** The sum of the 24 hours of a row, in SQL. */
export const OF_DAY = Array.from({ length: 24 }, (_, hour) => `h${String(hour).padStart(2, '0')}`).join(
  ' + ',
);

/** In an order that can be compared. */
export const inOrder = (numbers: Numbers): [string, number][] =>
  [...numbers].sort(([one], [other]) => (one < other ? -1 : 1));

/** Everything in `few` that `many` has less often. */
export const missing = (few: Numbers, many: Numbers): string[] =>
  [...few].filter(([name, count]) => count > (many.get(name) ?? 0)).map(([name]) => name);
