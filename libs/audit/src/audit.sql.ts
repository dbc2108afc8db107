import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type Digest,
  type JoinedKey,
  type StoredDetails,
  type Subject,
  type SubjectDigests,
  subjectKeyJoin,
} from '@app/crypto';
import type { Engine, SqlValue, Tx, UnitOfWork } from '@app/database';
import type { AuditSource } from './audit-event.entity';
import type { AuditEventView, AuditQuery } from './audit.dto';
import type { AnyEventType } from './event-types';

/** An event to append, in its stored form. */
export interface NewEvent {
  readonly subject: Subject;
  readonly id: string;
  readonly type: AnyEventType;
  readonly source: AuditSource;
  readonly details: string;
  readonly createdAt: string;
}

/** In place of a guild in the counts over all guilds of a bot. */
export const ALL_GUILDS = '';

/** Continues after the last event, or after the last sealed one where all were pruned. */
const INSERT = `INSERT INTO audit_events (bot_id, seq, id, guild_id, user_id, event_type, source, details, created_at)
  VALUES (?, COALESCE((SELECT MAX(seq) FROM audit_events WHERE bot_id = ?),
    (SELECT last_seq FROM audit_heads WHERE bot_id = ?), 0) + 1, ?, ?, ?, ?, ?, ?, ?)`;

const COUNT = `INSERT INTO audit_counts (bot_id, guild_id, event_type, writer, total) VALUES (?, ?, ?, 0, ?), (?, ?, ?, 0, ?)
  ON CONFLICT (bot_id, guild_id, event_type, writer) DO UPDATE SET total = audit_counts.total + excluded.total`;

/** On PostgreSQL each count is spread over this many rows, so that two writers rarely meet in one. */
const WRITERS = 16;

/**
 * Appends any number of events and their counts in one statement. The statement locks the table before it takes places
 * (settled-order.ts), and changes counts in the order of their keys, so that two units cannot deadlock.
 */
const APPEND = `WITH given AS (
    SELECT * FROM unnest(?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[])
      WITH ORDINALITY AS event (bot_id, id, guild_id, user_id, event_type, source, details, created_at, place)
  ), appended AS (
    INSERT INTO audit_events (bot_id, seq, id, guild_id, user_id, event_type, source, details, created_at)
    SELECT bot_id, nextval('audit_events_seq'), id, guild_id, user_id, event_type, source, details, created_at
    FROM (SELECT * FROM given ORDER BY place) AS ordered
  ), counted AS (
    SELECT bot_id, guild_id, event_type FROM given
    UNION ALL SELECT bot_id, '${ALL_GUILDS}', event_type FROM given
  )
  INSERT INTO audit_counts (bot_id, guild_id, event_type, writer, total)
  SELECT bot_id, guild_id, event_type, writer, COUNT(*)
  FROM counted, (SELECT pg_backend_pid() % ${WRITERS} AS writer) AS self
  GROUP BY bot_id, guild_id, event_type, writer ORDER BY bot_id, guild_id, event_type
  ON CONFLICT (bot_id, guild_id, event_type, writer) DO UPDATE SET total = audit_counts.total + excluded.total`;

/** Appends events in the order given. Call it last in a unit, since it takes the places of the events in the log. */
export async function appendEvents(tx: Tx, events: readonly NewEvent[]): Promise<void> {
  if (tx.engine === 'postgres') {
    const column = <T>(of: (event: NewEvent) => T): T[] => events.map(of);
    await tx.run(
      APPEND,
      column(({ subject }) => subject.botId),
      column(({ id }) => id),
      column(({ subject }) => subject.guildId),
      column(({ subject }) => subject.userId),
      column(({ type }) => type),
      column(({ source }) => source),
      column(({ details }) => details),
      column(({ createdAt }) => createdAt),
    );
    return;
  }
  const counts = new Map<string, { readonly of: NewEvent; total: number }>();
  for (const event of events) {
    const { subject, id, type, source, details, createdAt } = event;
    const { botId, guildId, userId } = subject;
    await tx.run(INSERT, botId, botId, botId, id, guildId, userId, type, source, details, createdAt);
    const name = `${botId} ${guildId} ${type}`;
    const count = counts.get(name);
    if (count === undefined) counts.set(name, { of: event, total: 1 });
    else count.total++;
  }
  for (const { of, total } of counts.values()) {
    const { botId, guildId } = of.subject;
    await tx.run(COUNT, botId, guildId, of.type, total, botId, ALL_GUILDS, of.type, total);
  }
}

const FILTERS = ['user_id', 'guild_id', 'event_type'] as const;

const KEY = subjectKeyJoin('event');
const COLUMNS = 'event.id, event.guild_id, event.user_id, event_type, source, details, event.created_at';

/** An event as it is stored, with the id of its subject's present key. */
export type StoredEvent = StoredDetails & Pick<AuditEventView, 'event_type' | 'source' | 'created_at'>;

/** Values of the `columns`. */
interface Filter {
  readonly columns: readonly (typeof FILTERS)[number][];
  readonly values: readonly SqlValue[];
}

/** Only column names are part of the SQL text, so that there are at most eight statements. */
export function filterOf(digests: SubjectDigests, botId: string, query: AuditQuery, of?: Subject): Filter {
  const { user_id: userId, guild_id: guildId, event_type: type } = query;
  const stored = {
    user_id: of?.userId ?? (userId == null ? null : digests.user(botId, userId)),
    guild_id: of?.guildId ?? (guildId == null ? null : digests.guild(botId, guildId)),
    event_type: type ?? null,
  };
  const columns = FILTERS.filter((column) => stored[column] !== null);
  return { columns, values: [botId, ...columns.map((column) => stored[column])] };
}

/**
 * The condition for the given columns. The events of a user are searched by user, whatever else is filtered: SQLite
 * keeps no statistics and may choose the index of the guild. The plus keeps a column out of an index.
 */
function conditionOf(engine: Engine, columns: Filter['columns']): string {
  const ofUser = columns.includes('user_id');
  const terms = columns.map((column) =>
    engine === 'sqlite' && ofUser && column !== 'user_id' ? `+${column} = ?` : `${column} = ?`,
  );
  return ['bot_id = ?', ...terms].join(' AND ');
}

/** Reads `audit_counts`; only the events of one user are counted one by one, in an index. */
export async function countOf(tx: Tx, { columns, values }: Filter): Promise<number> {
  if (columns.includes('user_id')) {
    const where = conditionOf(tx.engine, columns);
    return tx.total(`SELECT COUNT(*) AS total FROM audit_events WHERE ${where}`, ...values);
  }
  const ofGuild = columns.includes('guild_id') ? 'guild_id = ?' : `guild_id = '${ALL_GUILDS}'`;
  const ofType = columns.includes('event_type') ? ' AND event_type = ?' : '';
  return tx.total(
    `SELECT SUM(total) AS total FROM audit_counts WHERE bot_id = ? AND ${ofGuild}${ofType}`,
    ...values,
  );
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
    `SELECT seq, ${COLUMNS}, ${KEY.columns} FROM audit_events event ${KEY.join}
     WHERE event.bot_id = ? AND ${found} ORDER BY seq DESC`,
    ...[botId, ...values, ...(before === undefined ? [] : [before]), limit, offset],
  );
}

/** Events that {@link recentSubjects} looks at: what lies further back is not recent. */
const RECENT_EVENTS = 5_000;
/** Events of one read. All of them at once would stop the event loop of SQLite for longer than a turn. */
const RECENT_PORTION = 500;

/** A place on a walk: of the event, of the one where the walk began, and how many events lie between, both included. */
export type RecentPlace = readonly [seq: number, top: number, looked: number];
type Recent = Subject & { readonly at: RecentPlace };

/**
 * The subjects of the newest events of a bot, of one guild or of one user: each once, at its newest event, in the order of
 * those. `after` continues a walk, so that no event is read again and what happens meanwhile changes nothing. Whether they are
 * erased is not known here. Other requests are answered between the reads.
 */
export async function recentSubjects(
  unitOfWork: UnitOfWork,
  of: Pick<Subject, 'botId'> & Partial<Subject>,
  after: RecentPlace | undefined,
  limit: number,
): Promise<Recent[]> {
  const found: Recent[] = [];
  const seen = new Set<string>();
  const { MAX_SAFE_INTEGER: END } = Number;
  let [last, top, looked = 0] = after ?? [END, END, 0];
  const walked = [last, top] as const;
  for (; looked < RECENT_EVENTS; await nextTurn()) {
    const events = await unitOfWork.read((tx) => newestEvents(tx, of, last, walked));
    if (after === undefined && looked === 0) top = events[0]?.seq ?? 0;
    for (const { seq, isWalked, ...subject } of events.slice(0, RECENT_EVENTS - looked)) {
      looked++;
      last = seq;
      const name = `${subject.guildId} ${subject.userId}`;
      if (isWalked || seen.has(name)) continue;
      seen.add(name);
      if (found.push({ ...subject, at: [seq, top, looked] }) === limit) return found;
    }
    if (events.length < RECENT_PORTION) break;
  }
  return found;
}

/** The subjects of some events before the place `last`, newest first, and whether an earlier page had them. */
async function newestEvents(
  tx: Tx,
  { botId, guildId, userId }: Pick<Subject, 'botId'> & Partial<Subject>,
  last: number,
  walked: readonly [from: number, top: number],
): Promise<(Subject & { readonly seq: number; readonly isWalked: boolean })[]> {
  const stored = { user_id: userId, guild_id: guildId };
  const columns = (['user_id', 'guild_id'] as const).filter((column) => stored[column] !== undefined);
  // The empty text keeps both engines in the index of the user: the statistics of PostgreSQL may prefer that of the guild.
  const rows = await tx.all<{ guild_id: Digest; user_id: Digest; seq: number; walked: number }>(
    `SELECT guild_id, user_id, seq, CASE WHEN EXISTS (
       SELECT 1 FROM audit_events newer WHERE newer.bot_id = ? AND newer.user_id = audit_events.user_id
       AND newer.guild_id || '' = audit_events.guild_id AND newer.seq >= ? AND newer.seq <= ?) THEN 1 ELSE 0 END AS walked
     FROM audit_events WHERE ${conditionOf(tx.engine, columns)} AND seq < ?
     ORDER BY seq DESC LIMIT ${RECENT_PORTION}`,
    ...[botId, ...walked, botId, ...columns.map((column) => stored[column] ?? null), last],
  );
  return rows.map((row) => ({
    ...{ botId, guildId: row.guild_id, userId: row.user_id },
    ...{ seq: row.seq, isWalked: row.walked === 1 },
  }));
}

/** Events of a subject after the place `after`, oldest first. */
export function eventsOf(
  tx: Tx,
  { botId, guildId, userId }: Subject,
  after: number,
  limit: number,
): Promise<(Omit<StoredEvent, 'key_id'> & { seq: number })[]> {
  const where = conditionOf(tx.engine, ['user_id', 'guild_id']);
  const sql = `SELECT seq, ${COLUMNS} FROM audit_events event WHERE ${where} AND seq > ? ORDER BY seq LIMIT ?`;
  return tx.all(sql, botId, userId, guildId, after, limit);
}
