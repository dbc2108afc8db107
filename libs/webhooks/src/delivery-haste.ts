import { amongValues, type Tx } from '@app/database';
import { CHUNK, idsOf, type Looked, LOOKED_AT, meantOf } from './delivery-states';

/** Of a delivery that no call holds. A call that has lost its lease to a changed URL holds it until the end of that lease. */
const FREE = `locked_by IS NULL AND (locked_until IS NULL OR locked_until <= ?)`;
/** Of a delivery whose last answer was no refusal of this one event: the success of another says nothing about that. */
const NOT_REFUSED = `(COALESCE(last_status, 0) NOT BETWEEN 400 AND 499 OR last_status = 429)`;

/**
 * Makes a chunk of the deliveries after the id `after` due at once that wait for a working receiver, without locked ones; returns the id up
 * to which it has looked, or undefined at the end. Any number of them can be refused: each unit reads a limited number.
 */
export async function hastenSome(
  tx: Tx,
  botId: string,
  dueAt: string,
  after: string,
): Promise<string | undefined> {
  const waits = `next_attempt_at > ? AND ${FREE} AND ${NOT_REFUSED}`;
  const rows = await tx.all<Looked>(
    `SELECT id, CASE WHEN ${waits} THEN 1 ELSE 0 END AS "isMeant" FROM webhook_deliveries
     WHERE bot_id = ? AND status = 'pending' AND id > ? ORDER BY id LIMIT ${LOOKED_AT}`,
    ...[dueAt, dueAt, botId, after],
  );
  const { ids, last, isWhole } = meantOf(rows, after);
  const list = amongValues(tx, 'id', ids);
  const free = await tx.all<{ id: string }>(
    `SELECT id FROM webhook_deliveries WHERE bot_id = ? AND status = 'pending' AND ${waits} AND ${list.sql}
     ORDER BY id FOR UPDATE SKIP LOCKED`,
    ...[botId, dueAt, dueAt, list.value],
  );
  await makeDue(tx, botId, idsOf(free), dueAt);
  return isWhole ? undefined : last;
}

/**
 * Makes a chunk of the deliveries due at once that are due after `latest`, without locked ones; returns their number. A clock that was
 * ahead has written their times, and their leases count for nothing.
 */
export async function hastenLate(tx: Tx, botId: string, dueAt: string, latest: string): Promise<number> {
  const late = await tx.all<{ id: string }>(
    `SELECT id FROM webhook_deliveries
     WHERE bot_id = ? AND status = 'pending' AND next_attempt_at > ?
     ORDER BY next_attempt_at LIMIT ${CHUNK} FOR UPDATE SKIP LOCKED`,
    ...[botId, latest],
  );
  return makeDue(tx, botId, idsOf(late), dueAt);
}

function makeDue(tx: Tx, botId: string, ids: readonly string[], dueAt: string): Promise<number> {
  const list = amongValues(tx, 'id', ids);
  const due = 'UPDATE webhook_deliveries SET next_attempt_at = ?, locked_by = NULL, locked_until = NULL';
  return tx.run(`${due} WHERE bot_id = ? AND ${list.sql}`, dueAt, botId, list.value);
}

/** Makes a pending delivery due at once; a running call continues. */
export function hastenOne(tx: Tx, botId: string, id: string, dueAt: string): Promise<number> {
  return tx.run(
    `UPDATE webhook_deliveries SET next_attempt_at = ?
     WHERE bot_id = ? AND id = ? AND status = 'pending' AND ${FREE} AND next_attempt_at > ?`,
    ...[dueAt, botId, id, dueAt, dueAt],
  );
}

/**
 * Puts a delivery that is due before all others of its bot that are, so that it is the call that is sent next, also to a receiver
 * that is probed with one call.
 */
export async function putFirst(tx: Tx, botId: string, id: string, dueAt: string): Promise<void> {
  const other = await tx.get<{ at: string }>(
    `SELECT next_attempt_at AS at FROM webhook_deliveries
     WHERE bot_id = ? AND status = 'pending' AND id <> ? ORDER BY next_attempt_at LIMIT 1`,
    ...[botId, id],
  );
  if (other === undefined || other.at > dueAt) return;
  await tx.run(
    `UPDATE webhook_deliveries SET next_attempt_at = ?
     WHERE bot_id = ? AND id = ? AND status = 'pending' AND locked_by IS NULL AND next_attempt_at <= ?`,
    ...[new Date(Date.parse(other.at) - 1).toISOString(), botId, id, dueAt],
  );
}
