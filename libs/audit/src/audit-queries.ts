import type { Tx } from '@app/database';
import type { AuditEventType } from '@app/kernel';
import type { Digest } from '@app/crypto';
import { ALL_GUILDS } from './audit.sql';

/** An event without its details; `seq` is its place in the log. */
export interface LoggedEvent {
  readonly seq: number;
  readonly guild_id: Digest;
  readonly user_id: Digest;
  readonly event_type: AuditEventType;
  readonly source: string;
  readonly created_at: string;
}

/** The first event of a bot at the place `seq` or after it. */
export function firstEvent(
  tx: Tx,
  botId: string,
  seq = 0,
): Promise<(Pick<LoggedEvent, 'seq' | 'created_at'> & { readonly id: string }) | undefined> {
  const sql =
    'SELECT seq, id, created_at FROM audit_events WHERE bot_id = ? AND seq >= ? ORDER BY seq LIMIT 1';
  return tx.get(sql, botId, seq);
}

/** The place of the last event of a bot; 0 for an empty log. */
export async function lastPlace(tx: Tx, botId: string): Promise<number> {
  const sql = 'SELECT seq FROM audit_events WHERE bot_id = ? ORDER BY seq DESC LIMIT 1';
  return (await tx.get<Pick<LoggedEvent, 'seq'>>(sql, botId))?.seq ?? 0;
}

/** At most `limit` events of a bot from the place `from` up to, and without, the place `to`, in their order. */
export function eventsBetween(
  tx: Tx,
  botId: string,
  from: number,
  to: number,
  limit: number,
): Promise<LoggedEvent[]> {
  return tx.all(
    `SELECT seq, guild_id, user_id, event_type, source, created_at FROM audit_events
     WHERE bot_id = ? AND seq >= ? AND seq < ? ORDER BY seq LIMIT ${limit}`,
    ...[botId, from, to],
  );
}

/** Whether the event `id` has a place from `first` to `last`. */
export async function hasEventBetween(
  tx: Tx,
  botId: string,
  first: number,
  last: number,
  id: string,
): Promise<boolean> {
  const sql = 'SELECT 1 FROM audit_events WHERE bot_id = ? AND seq >= ? AND seq <= ? AND id = ?';
  return (await tx.get(sql, botId, first, last, id)) !== undefined;
}

/** How many events of one type and source there are in one hour. */
export interface HourlyEvents extends Pick<LoggedEvent, 'event_type' | 'source'> {
  /** The beginning of an ISO time, up to the hour. */
  readonly hour: string;
  readonly total: number;
}

/** The events of a bot after the place `last` by hour, type and source; undefined for more than `max` events. */
export async function eventsBehind(
  tx: Tx,
  botId: string,
  last: number,
  max: number,
): Promise<HourlyEvents[] | undefined> {
  const rows = await tx.all<HourlyEvents>(
    `SELECT hour, event_type, source, COUNT(*) AS total
     FROM (SELECT substr(created_at, 1, 13) AS hour, event_type, source FROM audit_events
           WHERE bot_id = ? AND seq > ? ORDER BY seq LIMIT ?) found
     GROUP BY hour, event_type, source`,
    ...[botId, last, max + 1],
  );
  const counted = rows.map((row) => ({ ...row, total: Number(row.total) }));
  return counted.reduce((sum, { total }) => sum + total, 0) > max ? undefined : counted;
}

/** Removes the events of a bot up to the place `last`; returns their number. */
export function removeEvents(tx: Tx, botId: string, last: number): Promise<number> {
  return tx.run('DELETE FROM audit_events WHERE bot_id = ? AND seq <= ?', botId, last);
}

/** The number of events of one type in one guild. */
interface Counted {
  readonly guild_id: string;
  readonly event_type: string;
  readonly total: number;
}

/** Subtracts the events up to `lastSeq`, which the unit removes, from the counts. */
export async function lowerCounts(tx: Tx, botId: string, lastSeq: number): Promise<void> {
  const going = await tx.all<Counted>(
    `SELECT guild_id, event_type, COUNT(*) AS total FROM audit_events WHERE bot_id = ? AND seq <= ?
     GROUP BY guild_id, event_type`,
    ...[botId, lastSeq],
  );
  // Same order as appends, against deadlocks. The row of one writer may fall below zero: only the sum counts.
  for (const { guild_id: guildId, event_type: type, total } of keptOf(going)) {
    await tx.run(
      `INSERT INTO audit_counts (bot_id, guild_id, event_type, writer, total) VALUES (?, ?, ?, 0, ?)
       ON CONFLICT (bot_id, guild_id, event_type, writer) DO UPDATE SET total = audit_counts.total + excluded.total`,
      ...[botId, guildId, type, -total],
    );
  }
}

/** Whether `audit_counts` fits the events, and how many events follow `seq`. */
export async function areCountsExact(
  tx: Tx,
  botId: string,
  seq: number,
): Promise<{ isExact: boolean; behind: number }> {
  const there = await tx.all<Counted>(
    `SELECT guild_id, event_type, COUNT(*) AS total FROM audit_events WHERE bot_id = ?
     GROUP BY guild_id, event_type`,
    botId,
  );
  const kept = await tx.all<Counted>(
    `SELECT guild_id, event_type, SUM(total) AS total FROM audit_counts WHERE bot_id = ?
     GROUP BY guild_id, event_type`,
    botId,
  );
  const sql = 'SELECT COUNT(*) AS total FROM audit_events WHERE bot_id = ? AND seq > ?';
  return { isExact: textOf(keptOf(there)) === textOf(kept), behind: await tx.total(sql, botId, seq) };
}

/** The counts as they have to be in `audit_counts`, with those over all guilds, ordered by key. */
function keptOf(counted: readonly Counted[]): Counted[] {
  const sums = new Map<string, Counted>();
  for (const { guild_id: id, event_type, total } of counted) {
    for (const guildId of [ALL_GUILDS, id]) {
      const key = keyOf(guildId, event_type);
      sums.set(key, { guild_id: guildId, event_type, total: (sums.get(key)?.total ?? 0) + total });
    }
  }
  return [...sums].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, sum]) => sum);
}

function textOf(counted: readonly Counted[]): string {
  return counted
    .filter(({ total }) => total !== 0)
    .map(({ guild_id: guildId, event_type: type, total }) => `${keyOf(guildId, type)}/${total}`)
    .sort()
    .join();
}

function keyOf(guildId: string, type: string): string {
  return `${guildId}/${type}`;
}
