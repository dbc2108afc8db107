import type { SqlValue, Tx } from '@app/database';

/** The states that a delivery does not leave by itself, and that are no confirmation. */
const UNDELIVERED = `status IN ('exhausted', 'gone', 'cancelled')`;

/** When a revived delivery is due, and when it is given up. */
export interface Restart {
  readonly dueAt: string;
  readonly giveUpAt: string;
}

// Whoever changes several deliveries has locked their bot, or takes none that somebody else holds; who has to wait for
// deliveries takes them in the order of their ids. So no two can wait for each other.

/**
 * Ends every waiting delivery of a bot that has no URL (any more); a call under way keeps its lease until its end. The
 * caller has locked the bot.
 */
export async function cancelPending(tx: Tx, botId: string, nowIso: string): Promise<number> {
  await lockInOrder(tx, botId, `status = 'pending'`);
  return tx.run(
    `UPDATE webhook_deliveries SET status = 'cancelled', finished_at = ? WHERE bot_id = ? AND status = 'pending'`,
    ...[nowIso, botId],
  );
}

/** {@link cancelPending} without those that somebody else is about to change. */
export function cancelFree(tx: Tx, botId: string, nowIso: string): Promise<number> {
  return tx.run(
    `UPDATE webhook_deliveries SET status = 'cancelled', finished_at = ?
     WHERE bot_id = ? AND id IN
       (SELECT id FROM webhook_deliveries WHERE bot_id = ? AND status = 'pending' FOR UPDATE SKIP LOCKED)`,
    ...[nowIso, botId, botId],
  );
}

/**
 * Lets all that is not confirmed begin its schedule anew, with its old id; pings that have ended stay ended. A call
 * under way loses its lease: how it fails says nothing of the schedule that has begun. The caller has locked the bot.
 */
export async function restartUnconfirmed(tx: Tx, botId: string, restart: Restart): Promise<number> {
  const unconfirmed = `(status = 'pending' OR (${UNDELIVERED} AND event <> 'ping'))`;
  await lockInOrder(tx, botId, unconfirmed);
  return revive(tx, botId, restart, unconfirmed);
}

/** Makes waiting deliveries, or the one of `id`, due at once; one that is under way, or about to be, goes on. */
export function hastenPending(tx: Tx, botId: string, dueAt: string, id?: string): Promise<number> {
  return tx.run(
    `UPDATE webhook_deliveries SET next_attempt_at = ?
     WHERE bot_id = ? AND id IN
       (SELECT id FROM webhook_deliveries
        WHERE bot_id = ? AND status = 'pending' AND locked_by IS NULL AND next_attempt_at > ?
          ${id === undefined ? '' : 'AND id = ?'} FOR UPDATE SKIP LOCKED)`,
    ...[dueAt, botId, botId, dueAt, ...(id === undefined ? [] : [id])],
  );
}

/** Which deliveries a replay takes up: those with ids after `after`. */
export interface ReplayScope {
  readonly after: string;
  readonly sinceIso: string;
  readonly undeliveredOnly: boolean;
}

/** The ids of deliveries that have ended, oldest first. */
export async function replayable(
  tx: Tx,
  botId: string,
  { after, sinceIso, undeliveredOnly }: ReplayScope,
  max: number,
): Promise<string[]> {
  const rows = await tx.all<{ id: string }>(
    `SELECT id FROM webhook_deliveries
     WHERE bot_id = ? AND id > ? AND created_at >= ? AND event <> 'ping'
       AND ${undeliveredOnly ? UNDELIVERED : `status <> 'pending'`}
     ORDER BY id LIMIT ?`,
    ...[botId, after, sinceIso, max],
  );
  return rows.map(({ id }) => id);
}

/** Sends one delivery again, whatever became of it; nothing is changed of one that is waiting or under way. */
export function reviveOne(tx: Tx, botId: string, id: string, restart: Restart): Promise<number> {
  return revive(tx, botId, restart, `status <> 'pending' AND id = ?`, id);
}

/** SQLite's units take turns: there is nothing to lock, and nothing to read twice. */
async function lockInOrder(tx: Tx, botId: string, condition: string): Promise<void> {
  if (tx.engine === 'sqlite') return;
  await tx.get(
    `SELECT COUNT(*) AS locked FROM
       (SELECT id FROM webhook_deliveries WHERE bot_id = ? AND ${condition} ORDER BY id FOR UPDATE) AS deliveries`,
    botId,
  );
}

function revive(
  tx: Tx,
  botId: string,
  { dueAt, giveUpAt }: Restart,
  condition: string,
  ...values: readonly SqlValue[]
): Promise<number> {
  return tx.run(
    // Where a call of it is still under way, the next one waits for the end of its lease.
    `UPDATE webhook_deliveries SET status = 'pending', retries = 0, give_up_at = ?, finished_at = NULL,
       next_attempt_at = CASE WHEN locked_until > ? THEN locked_until ELSE ? END, locked_by = NULL, locked_until = NULL
     WHERE bot_id = ? AND ${condition}`,
    ...[giveUpAt, dueAt, dueAt, botId, ...values],
  );
}
