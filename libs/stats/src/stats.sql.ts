import { givenRows, type Tx } from '@app/database';
import type { Bucket } from './stat-count.entity';

/** What happened in one hour of a bot. */
export interface Happened {
  readonly botId: string;
  /** Any time of the hour. */
  readonly at: string;
  readonly name: string;
  readonly times: number;
  readonly longestMs?: number;
}

/** A count of one bucket. */
export interface Counted {
  readonly begins_at: string;
  readonly name: string;
  readonly total: number;
  readonly longest_ms: number;
}

/** A period of whole buckets, without its end. */
export interface Period {
  readonly bucket: Bucket;
  readonly from: string;
  readonly until: string;
}

/** On PostgreSQL a shared count is spread over this many rows, so that two writers rarely meet in one. */
const WRITERS = 8;

const COLUMNS = ['bot_id', 'bucket', 'begins_at', 'name', 'total', 'longest_ms'];

/** The first moment of the hour or the day (UTC) of a time. */
export function beginOf(bucket: Bucket, at: string): string {
  return bucket === 'hour' ? `${at.slice(0, 13)}:00:00.000Z` : `${at.slice(0, 10)}T00:00:00.000Z`;
}

/**
 * Adds to the counts of the hours and of the days, in the order of their keys, so that two units cannot deadlock.
 * `shared` says that other units can add to the same names of the same bot meanwhile.
 */
export async function addCounts(tx: Tx, happened: readonly Happened[], shared: boolean): Promise<void> {
  const rows = summed(happened);
  if (rows.length === 0) return;
  const given = givenRows(tx, COLUMNS, rows);
  const writer = shared && tx.engine === 'postgres' ? `pg_backend_pid() % ${WRITERS}` : '0';
  await tx.run(
    `INSERT INTO stats_counts (bot_id, bucket, begins_at, name, writer, total, longest_ms)
     SELECT bot_id, bucket, begins_at, name, ${writer}, CAST(total AS bigint), CAST(longest_ms AS bigint)
     FROM ${given.sql} WHERE place > 0 ORDER BY bot_id, bucket, begins_at, name
     ON CONFLICT (bot_id, bucket, begins_at, name, writer) DO UPDATE SET total = stats_counts.total + excluded.total,
       longest_ms = CASE WHEN excluded.longest_ms > stats_counts.longest_ms THEN excluded.longest_ms
         ELSE stats_counts.longest_ms END`,
    ...given.values,
  );
}

/** One row for each count that changes. */
function summed(happened: readonly Happened[]): string[][] {
  const sums = new Map<string, { readonly key: readonly string[]; total: number; longestMs: number }>();
  for (const { botId, at, name, times, longestMs = 0 } of happened) {
    if (times === 0) continue;
    for (const bucket of ['hour', 'day'] as const) {
      const key = [botId, bucket, beginOf(bucket, at), name];
      const place = key.join(' ');
      const sum = sums.get(place) ?? { key, total: 0, longestMs: 0 };
      sum.total += times;
      sum.longestMs = Math.max(sum.longestMs, longestMs);
      sums.set(place, sum);
    }
  }
  return [...sums.values()].map(({ key, total, longestMs }) => [...key, String(total), String(longestMs)]);
}

/** The counts of a period, oldest first. */
export async function countsIn(tx: Tx, botId: string, { bucket, from, until }: Period): Promise<Counted[]> {
  const rows = await tx.all<Counted>(
    `SELECT begins_at, name, SUM(total) AS total, MAX(longest_ms) AS longest_ms FROM stats_counts
     WHERE bot_id = ? AND bucket = ? AND begins_at >= ? AND begins_at < ?
     GROUP BY begins_at, name ORDER BY begins_at, name`,
    ...[botId, bucket, from, until],
  );
  return rows.map((row) => ({ ...row, total: Number(row.total), longest_ms: Number(row.longest_ms) }));
}

/** The oldest bucket of a bot. */
export async function oldestOf(tx: Tx, botId: string, bucket: Bucket): Promise<string | undefined> {
  const row = await tx.get<{ oldest: string | null }>(
    'SELECT MIN(begins_at) AS oldest FROM stats_counts WHERE bot_id = ? AND bucket = ?',
    ...[botId, bucket],
  );
  return row?.oldest ?? undefined;
}

/** Removes the counts of a period. */
export function removeCounts(tx: Tx, botId: string, { bucket, from, until }: Period): Promise<number> {
  return tx.run(
    'DELETE FROM stats_counts WHERE bot_id = ? AND bucket = ? AND begins_at >= ? AND begins_at < ?',
    ...[botId, bucket, from, until],
  );
}
