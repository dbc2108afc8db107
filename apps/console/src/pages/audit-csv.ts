import { actorOf } from './audit-line';
import type { ShownEvent } from './audit-walk';

const COLUMNS = ['time', 'event', 'source', 'actor', 'user_id', 'server_id', 'erased', 'details', 'id'];

/** Rows as RFC 4180 has it. A text that a spreadsheet would calculate begins with an apostrophe. */
export function csvOf(rows: readonly ShownEvent[]): string {
  const lines = rows.map((event) => [
    event.created_at,
    event.event_type,
    event.source,
    actorOf(event) ?? '',
    event.erased === true ? '' : event.user_id,
    event.erased === true ? '' : event.guild_id,
    event.erased === true ? 'true' : 'false',
    event.details === null ? '' : JSON.stringify(event.details),
    event.id,
  ]);
  return [COLUMNS, ...lines].map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('');
}

function cellOf(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
