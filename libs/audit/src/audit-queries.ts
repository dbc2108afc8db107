import type { Tx } from '@app/database';
import type { AuditEventType } from '@app/kernel';
import type { Digest } from '@app/primitives';

/** An event without its details; `seq` is its place in the log. */
export interface LoggedEvent {
  readonly seq: number;
  readonly guild_id: Digest;
  readonly user_id: Digest;
  readonly event_type: AuditEventType;
  readonly source: string;
  readonly created_at: string;
}

/** The first event of a bot at the place `seq` or behind it. */
export function firstEvent(
  tx: Tx,
  botId: string,
  seq = 0,
): Promise<Pick<LoggedEvent, 'seq' | 'created_at'> | undefined> {
  const sql = 'SELECT seq, created_at FROM audit_events WHERE bot_id = ? AND seq >= ? ORDER BY seq LIMIT 1';
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

/** Removes the events of a bot up to the place `last`; answers their number. */
export function removeEvents(tx: Tx, botId: string, last: number): Promise<number> {
  return tx.run('DELETE FROM audit_events WHERE bot_id = ? AND seq <= ?', botId, last);
}
