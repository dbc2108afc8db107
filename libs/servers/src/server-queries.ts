import { setImmediate as nextTurn } from 'node:timers/promises';
import { eachOf, type UnitOfWork } from '@app/database';
import type { Digest } from '@app/primitives';

/** The guilds of a bot whose deletion was due at `nowIso`, the longest overdue first. */
export async function guildsDue(
  unitOfWork: UnitOfWork,
  botId: string,
  nowIso: string,
  limit: number,
): Promise<Digest[]> {
  const due = await unitOfWork.read((tx) =>
    tx.all<{ guild_id: Digest }>(
      `SELECT guild_id FROM servers WHERE bot_id = ? AND deletion_scheduled_for <= ?
       ORDER BY deletion_scheduled_for LIMIT ${limit}`,
      ...[botId, nowIso],
    ),
  );
  return due.map(({ guild_id: guildId }) => guildId);
}

/** The first bot behind `after` that has a scheduled deletion of a guild. */
export async function nextBotWithDeletions(
  unitOfWork: UnitOfWork,
  after: string,
): Promise<string | undefined> {
  const row = await unitOfWork.get<{ bot_id: string }>(
    'SELECT bot_id FROM servers WHERE bot_id > ? AND deletion_scheduled_for IS NOT NULL ORDER BY bot_id LIMIT 1',
    after,
  );
  return row?.bot_id;
}

/** Rows read by one statement; requests are answered in between. */
const BATCH = 500;

interface Scheduled {
  readonly deletion_scheduled_for: string;
  readonly guild_id: Digest;
}

/** How many guilds of a bot have a scheduled deletion, and how many of these were due at `nowIso`. */
export function countDeletions(
  unitOfWork: UnitOfWork,
  botId: string,
  nowIso: string,
): Promise<{ readonly scheduled: number; readonly due: number }> {
  return unitOfWork.snapshot(async (tx) => {
    const behind = async (last: Scheduled | undefined): Promise<Scheduled[]> => {
      await nextTurn();
      return tx.all<Scheduled>(
        `SELECT deletion_scheduled_for, guild_id FROM servers
         WHERE bot_id = ? AND deletion_scheduled_for IS NOT NULL AND (deletion_scheduled_for, guild_id) > (?, ?)
         ORDER BY deletion_scheduled_for, guild_id LIMIT ${BATCH}`,
        ...[botId, last?.deletion_scheduled_for ?? '', last?.guild_id ?? ''],
      );
    };
    const found = { scheduled: 0, due: 0 };
    for await (const { deletion_scheduled_for: at } of eachOf(BATCH, behind)) {
      found.scheduled++;
      if (at <= nowIso) found.due++;
    }
    return found;
  });
}
