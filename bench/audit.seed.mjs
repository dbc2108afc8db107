import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { userId } from './tenant.mjs';

const TYPES = ['consent_requested', 'consent_accepted', 'data_submitted', 'data_exported'];

/** Writes audit events straight into the file of a stopped server: a million over the interface would take minutes. */
export function seedAuditEvents(directory, { id: botId, guildId }, count) {
  const database = new SqliteDatabase(join(directory, 'lethe.db'));
  const first = database
    .prepare('SELECT COALESCE(MAX(seq), 0) AS seq FROM audit_events WHERE bot_id = ?')
    .get(botId).seq;
  const event = database.prepare(
    `INSERT INTO audit_events (bot_id, seq, id, guild_id, user_id, event_type, source, details, created_at)
     VALUES (?, ?, ?, ?, ?, ?, 'service', NULL, ?)`,
  );
  const counted = database.prepare(
    `INSERT INTO audit_counts (bot_id, guild_id, event_type, total) VALUES (?, ?, ?, ?)
     ON CONFLICT (bot_id, guild_id, event_type) DO UPDATE SET total = total + excluded.total`,
  );
  database.transaction(() => {
    for (let n = 1; n <= count; n++) {
      const id = `01900000-0000-7000-8000-${String(n).padStart(12, '0')}`;
      const at = new Date(1_700_000_000_000 + n).toISOString();
      event.run(botId, first + n, id, guildId, userId(n % 5000), TYPES[n % TYPES.length], at);
    }
    for (const [index, type] of TYPES.entries()) {
      const total = Math.floor((count - index) / TYPES.length) + (index === 0 ? 0 : 1);
      for (const guild of [guildId, '']) counted.run(botId, guild, type, total);
    }
  })();
  database.close();
  return first + count;
}
