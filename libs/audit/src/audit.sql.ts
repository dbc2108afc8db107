import type { Engine, Tx } from '@app/database';
import type { AuditEventType } from '@app/kernel';
import type { Subject } from '@app/subjects';
import type { AuditSource } from './audit-event.entity';
import type { OwnEventType } from './event-types';

/** An event to append, in its stored form. */
export interface NewEvent {
  readonly subject: Subject;
  readonly id: string;
  readonly type: AuditEventType | OwnEventType;
  readonly source: AuditSource;
  readonly details: string;
  readonly createdAt: string;
}

/** In place of a guild in the counts over all guilds of a bot. */
export const ALL_GUILDS = '';

/**
 * The condition for the given columns. The events of a user are searched by user, whatever else is filtered: SQLite
 * keeps no statistics and may choose the index of the guild. The plus keeps a column out of an index.
 */
export function conditionOf(
  engine: Engine,
  columns: readonly ('user_id' | 'guild_id' | 'event_type')[],
): string {
  const ofUser = columns.includes('user_id');
  const terms = columns.map((column) =>
    engine === 'sqlite' && ofUser && column !== 'user_id' ? `+${column} = ?` : `${column} = ?`,
  );
  return ['bot_id = ?', ...terms].join(' AND ');
}

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
