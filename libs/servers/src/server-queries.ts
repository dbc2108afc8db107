import type { UnitOfWork } from '@app/database';
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

/** How many guilds of a bot have a scheduled deletion, and how many of these were due at `nowIso`. */
export async function countDeletions(
  unitOfWork: UnitOfWork,
  botId: string,
  nowIso: string,
): Promise<{ readonly scheduled: number; readonly due: number }> {
  const row = await unitOfWork.get<{ scheduled: number | string; due: number | string | null }>(
    `SELECT COUNT(*) AS scheduled, SUM(CASE WHEN deletion_scheduled_for <= ? THEN 1 ELSE 0 END) AS due
     FROM servers WHERE bot_id = ? AND deletion_scheduled_for IS NOT NULL`,
    ...[nowIso, botId],
  );
  return { scheduled: Number(row?.scheduled ?? 0), due: Number(row?.due ?? 0) };
}
