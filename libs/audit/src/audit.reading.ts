import { EVENT_KEY, type SubjectDigests } from '@app/crypto';
import type { SqlValue, Tx } from '@app/database';
import type { AuditEventView, AuditQuery } from './audit.dto';
import { ALL_GUILDS, conditionOf } from './audit.sql';

const FILTERS = ['user_id', 'guild_id', 'event_type'] as const;

const COLUMNS = 'event.id, event.guild_id, event.user_id, event_type, source, details, event.created_at';

/** With each event the key of its subject, if that has one. */
const WITH_KEY = `SELECT ${COLUMNS}, ${EVENT_KEY.columns} FROM audit_events event ${EVENT_KEY.join}`;

/** An event as it is stored. */
export interface ListedEvent extends Omit<AuditEventView, 'details' | 'erased' | 'unreadable'> {
  readonly details: string | null;
}

interface ListedEventWithKey extends ListedEvent {
  readonly key_id: string | null;
  readonly key_sealed: string | null;
}

type Asked = Pick<AuditQuery, 'user_id' | 'guild_id' | 'event_type'>;

/** Values of the `columns`; for a user or guild also the digests that its erased events hold. */
export interface Filter {
  readonly columns: readonly (typeof FILTERS)[number][];
  readonly values: readonly SqlValue[];
  readonly erased?: readonly SqlValue[];
}

/** Only column names are part of the SQL text, so that there are at most eight statements. */
export function filterOf(digests: SubjectDigests, botId: string, query: Asked): Filter {
  const { user_id: userId, guild_id: guildId, event_type: type } = query;
  const columns = FILTERS.filter((column) => query[column] != null);
  const valuesOf = (by: Readonly<Asked>): SqlValue[] => [
    botId,
    ...columns.map((column) => by[column] ?? null),
  ];
  if (userId == null && guildId == null) return { columns, values: valuesOf(query) };
  const erased = {
    user_id: userId == null ? undefined : digests.of(botId, 'user', userId),
    guild_id: guildId == null ? undefined : digests.of(botId, 'guild', guildId),
    ...(type != null && { event_type: type }),
  };
  return { columns, values: valuesOf(query), erased: valuesOf(erased) };
}

/** Reads `audit_counts`; only the events of one user are counted one by one, in an index. */
export async function countOf(tx: Tx, botId: string, query: Asked, filter: Filter): Promise<number> {
  if (query.user_id != null) {
    const row = await tx.get<{ total: number }>(
      `SELECT COUNT(*) AS total FROM (${placesOf(tx, filter)}) AS found`,
      ...bound(filter),
    );
    return row?.total ?? 0;
  }
  const ofType = query.event_type == null ? '' : ' AND event_type = ?';
  const values = [
    botId,
    query.guild_id ?? ALL_GUILDS,
    ...(query.event_type == null ? [] : [query.event_type]),
  ];
  const row = await tx.get<{ total: number | null }>(
    `SELECT SUM(total) AS total FROM audit_counts WHERE bot_id = ? AND guild_id = ?${ofType}`,
    ...values,
  );
  return Number(row?.total ?? 0);
}

/** Newest first. The subquery makes both engines skip the rows before the page in an index. */
export function pageOf(tx: Tx, filter: Filter, limit: number, offset: number): Promise<ListedEventWithKey[]> {
  const [botId = null] = filter.values;
  const { found, values } = among(tx, filter, { order: 'DESC', limit, offset });
  return tx.all<ListedEventWithKey>(
    `${WITH_KEY} WHERE event.bot_id = ? AND ${found} ORDER BY seq DESC`,
    ...[botId, ...values],
  );
}

/** Events after the place `after`, oldest first. */
export function eventsOf(
  tx: Tx,
  filter: Filter,
  after: number,
  limit: number,
): Promise<(ListedEvent & { seq: number })[]> {
  const [botId = null] = filter.values;
  const { found, values } = among(tx, filter, { after, order: 'ASC', limit, offset: 0 });
  return tx.all<ListedEvent & { seq: number }>(
    `SELECT seq, ${COLUMNS} FROM audit_events event WHERE event.bot_id = ? AND ${found} ORDER BY seq`,
    ...[botId, ...values],
  );
}

/** Places of events that fit a filter, ordered and limited. */
interface Places {
  readonly after?: number;
  readonly order: 'ASC' | 'DESC';
  readonly limit: number;
  readonly offset: number;
}

/**
 * The condition for a bounded number of the filter's places. PostgreSQL plans for any limit and would read and sort the
 * whole union, unless each side has its own limit.
 */
function among(
  tx: Tx,
  filter: Filter,
  { after, order, limit, offset }: Places,
): { found: string; values: SqlValue[] } {
  const behind = after === undefined ? '' : ' AND seq > ?';
  const isBounded = tx.engine === 'postgres' && filter.erased !== undefined;
  const side = isBounded ? `${behind} ORDER BY seq ${order} LIMIT ?` : behind;
  const places = `${placesOf(tx, filter, side)} ORDER BY seq ${order} LIMIT ? OFFSET ?`;
  const sideValues = [...(after === undefined ? [] : [after]), ...(isBounded ? [limit + offset] : [])];
  return {
    found: tx.engine === 'sqlite' ? `seq IN (${places})` : `seq = ANY(ARRAY(${places}))`,
    values: [...bound(filter, ...sideValues), limit, offset],
  };
}

/** Their places in the log; each engine merges inputs that are sorted already. */
function placesOf(tx: Tx, { columns, erased }: Filter, further = ''): string {
  const one = `SELECT seq FROM audit_events WHERE ${conditionOf(tx.engine, columns)}${further}`;
  if (erased === undefined) return one;
  return tx.engine === 'sqlite' ? `${one} UNION ALL ${one}` : `(${one}) UNION ALL (${one})`;
}

function bound({ values, erased }: Filter, ...further: readonly SqlValue[]): SqlValue[] {
  return [...values, ...further, ...(erased === undefined ? [] : [...erased, ...further])];
}
