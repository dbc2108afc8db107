// The bot's own database, and its holder: what Lethe erases or exports is erased and exported here too.
import Database from 'better-sqlite3';
import { holders, runHolder } from '@lethe/sdk/holders';

const database = new Database(process.env.DATABASE ?? 'bot.db');
database.pragma('secure_delete = ON'); // or deleted text stays in the file
database.exec(`CREATE TABLE IF NOT EXISTS warnings (
  user_id TEXT NOT NULL, guild_id TEXT NOT NULL, reason TEXT NOT NULL, warned_at TEXT NOT NULL)`);

/** Notes a warning, and answers how many the member has on this server. */
export function warn({ user_id, guild_id, reason }) {
  const warned_at = new Date().toISOString();
  database.prepare('INSERT INTO warnings VALUES (?, ?, ?, ?)').run(user_id, guild_id, reason, warned_at);
  const counted = database.prepare('SELECT count(*) FROM warnings WHERE user_id = ? AND guild_id = ?');
  return counted.pluck().get(user_id, guild_id);
}

/** Does what waits in Lethe now, and asks again every minute. */
export async function hold(lethe) {
  const loop = runHolder(lethe, {
    ...{ key: 'database', label_de: 'Datenbank des Bots', label_en: 'Database of the bot' },
    stores: holders.sql(database, { table: 'warnings', user: 'user_id', guild: 'guild_id' }),
    onError: console.error,
  });
  await loop.once().catch(console.error); // Lethe is away: the loop tries again
  return loop;
}
