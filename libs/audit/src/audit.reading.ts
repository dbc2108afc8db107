import { EVENT_KEY, type JoinedKey, type SubjectDigests } from '@app/crypto';
import type { SqlValue, Tx } from '@app/database';
import type { StoredDetails } from '@app/primitives';
import type { Subject } from '@app/subjects';
import type { AuditEventView, AuditQuery } from './audit.dto';
import { ALL_GUILDS, conditionOf } from './audit.sql';

const FILTERS = ['user_id', 'guild_id', 'event_type'] as const;

const COLUMNS = 'event.id, event.guild_id, event.user_id, event_type, source, details, event.created_at';

/** An event as it is stored, with the id of its subject's present key. */
export type StoredEvent = StoredDetails & Pick<AuditEventView, 'event_type' | 'source' | 'created_at'>;

type Asked = Pick<AuditQuery, 'user_id' | 'guild_id' | 'event_type'>;

/** Values of the `columns`. */
export interface Filter {
  readonly columns: readonly (typeof FILTERS)[number][];
  readonly values: readonly SqlValue[];
}

/** Only column names are part of the SQL text, so that there are at most eight statements. */
export function filterOf(digests: SubjectDigests, botId: string, query: Asked): Filter {
  const { user_id: userId, guild_id: guildId, event_type: type } = query;
  const stored = {
    user_id: userId == null ? null : digests.user(botId, userId),
    guild_id: guildId == null ? null : digests.guild(botId, guildId),
    event_type: type ?? null,
  };
  const columns = FILTERS.filter((column) => stored[column] !== null);
  return { columns, values: [botId, ...columns.map((column) => stored[column])] };
}

/** {@link filterOf} the events of one subject. */
export function filterBy({ botId, guildId, userId }: Subject): Filter {
  return { columns: ['user_id', 'guild_id'], values: [botId, userId, guildId] };
}

/** Reads `audit_counts`; only the events of one user are counted one by one, in an index. */
export async function countOf(tx: Tx, { columns, values }: Filter): Promise<number> {
  if (columns.includes('user_id')) {
    const where = conditionOf(tx.engine, columns);
    const row = await tx.get<{ total: number }>(
      `SELECT COUNT(*) AS total FROM audit_events WHERE ${where}`,
      ...values,
    );
    return row?.total ?? 0;
  }
  const ofGuild = columns.includes('guild_id') ? 'guild_id = ?' : `guild_id = '${ALL_GUILDS}'`;
  const ofType = columns.includes('event_type') ? ' AND event_type = ?' : '';
  const row = await tx.get<{ total: number | null }>(
    `SELECT SUM(total) AS total FROM audit_counts WHERE bot_id = ? AND ${ofGuild}${ofType}`,
    ...values,
  );
  return Number(row?.total ?? 0);
}

/**
 * Newest first, of the events before the place `before` where one is given. The subquery makes both engines skip the rows
 * before the page in an index.
 */
export function pageOf(
  tx: Tx,
  { columns, values }: Filter,
  limit: number,
  offset: number,
  before?: number,
): Promise<(StoredEvent & JoinedKey & { readonly seq: number })[]> {
  const [botId = null] = values;
  const where = `${conditionOf(tx.engine, columns)}${before === undefined ? '' : ' AND seq < ?'}`;
  const places = `SELECT seq FROM audit_events WHERE ${where} ORDER BY seq DESC LIMIT ? OFFSET ?`;
  const found = tx.engine === 'sqlite' ? `seq IN (${places})` : `seq = ANY(ARRAY(${places}))`;
  return tx.all(
    `SELECT seq, ${COLUMNS}, ${EVENT_KEY.columns} FROM audit_events event ${EVENT_KEY.join}
     WHERE event.bot_id = ? AND ${found} ORDER BY seq DESC`,
    ...[botId, ...values, ...(before === undefined ? [] : [before]), limit, offset],
  );
}

/** Events after the place `after`, oldest first. */
export function eventsOf(
  tx: Tx,
  { columns, values }: Filter,
  after: number,
  limit: number,
): Promise<(Omit<StoredEvent, 'key_id'> & { seq: number })[]> {
  return tx.all(
    `SELECT seq, ${COLUMNS} FROM audit_events event WHERE ${conditionOf(tx.engine, columns)} AND seq > ?
     ORDER BY seq LIMIT ?`,
    ...[...values, after, limit],
  );
}
