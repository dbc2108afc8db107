import type { Tx } from '@app/database';
import { ALL_GUILDS } from './audit.sql';

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
  const behind = await tx.get<{ total: number }>(
    'SELECT COUNT(*) AS total FROM audit_events WHERE bot_id = ? AND seq > ?',
    ...[botId, seq],
  );
  return { isExact: textOf(keptOf(there)) === textOf(kept), behind: behind?.total ?? 0 };
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
