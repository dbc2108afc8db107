import { lockBot } from '@app/bots';
import { amongValues, type SqlList, type SqlValue, type Tx } from '@app/database';
import type { Random } from '@app/kernel';
import type { DeliveryStatus } from './delivery.entity';
import { RETRY_AFTER_MAX_MS } from './webhook-call';

/** Most delay of a retry, as a share of its pause, so that a backlog does not return at one time. */
const JITTER = 0.1;
/** How long after the planned end of all retries a delivery can wait for a paused receiver. */
const GRACE_MS = 86_400_000;

/** The times of retries and of giving up. */
export class RetrySchedule {
  /** Time from the first attempt to the giving up of a delivery. */
  readonly lifetimeMs: number;

  constructor(
    private readonly pausesMs: readonly number[],
    private readonly random: Random,
  ) {
    this.lifetimeMs = pausesMs.reduce((sum, pause) => sum + pause, 0) * (1 + JITTER) + GRACE_MS;
  }

  /** A schedule that begins now. */
  begin(nowMs: number): Restart {
    const giveUpAt = new Date(nowMs + this.lifetimeMs).toISOString();
    return { dueAt: new Date(nowMs).toISOString(), giveUpAt };
  }

  /** When a delivery is given up. If its bot was suspended, its whole lifetime begins again at the end of the suspension. */
  giveUpMs(giveUpAt: string, resumedAt: string | null): number {
    const anewMs = resumedAt === null ? 0 : Date.parse(resumedAt) + this.lifetimeMs;
    return Math.max(Date.parse(giveUpAt), anewMs);
  }

  /** No retry is planned for later than this. */
  latestMs = (nowMs: number): number => nowMs + 2 * Math.max(RETRY_AFTER_MAX_MS, ...this.pausesMs);

  /** The pause after a failure, with `retries` used before it; undefined after the last attempt. */
  pauseMs(retries: number, retryAfterMs = 0): number | undefined {
    const planned = this.pausesMs[retries];
    if (planned === undefined) return undefined;
    return Math.round(Math.max(planned, retryAfterMs) * (1 + JITTER * this.random.fraction()));
  }
}

/** Most deliveries changed by one unit, so that other units do not wait long. */
export const CHUNK = 500;
/** Most deliveries read by one unit that no index leads to those it means. */
export const LOOKED_AT = 5_000;

/** Final states without a confirmation. */
const UNDELIVERED = `status IN ('exhausted', 'gone', 'cancelled')`;
/** Deliveries that are sent to a new URL. A ping that has ended is not. */
const UNCONFIRMED = `(status = 'pending' OR (${UNDELIVERED} AND event <> 'ping'))`;
const UNCONFIRMED_STATUSES = ['pending', 'exhausted', 'gone', 'cancelled'] as const;

/** When a repeated delivery is due, and when it is given up. */
export interface Restart {
  readonly dueAt: string;
  readonly giveUpAt: string;
}

// Each unit changes at most one chunk. A unit that waits for several deliveries locks first the bot, if it locks it at all,
// and then the deliveries in the order of their ids; other units skip locked rows. So no deadlock is possible. Ids are read
// first and then changed as a list: an UPDATE with a LIMIT in a subquery can exceed the limit.

/** Notes in the unit of a changed URL that all deliveries of the bot follow it: {@link followSome}. */
export async function beginToFollow(tx: Tx, botId: string): Promise<void> {
  await tx.run(
    `INSERT INTO webhook_url_changes (bot_id, after_id) VALUES (?, '')
     ON CONFLICT (bot_id) DO UPDATE SET after_id = excluded.after_id`,
    botId,
  );
}

/**
 * Lets a chunk of deliveries follow the changed URL of their bot; false if none is left, or another unit has the bot.
 * Unconfirmed ones restart their schedule under their ids, except for ended pings. A running call loses its lease, since
 * its failure does not count for the new schedule. If the bot has no URL any more, pending ones are cancelled and keep
 * their lease.
 */
export async function followSome(tx: Tx, botId: string, restart: Restart): Promise<boolean> {
  // The bot is locked before its deliveries. Whether it has a URL is read here, and so is the end of the last chunk.
  const bot = await lockBot(tx, botId, 'NO KEY UPDATE SKIP LOCKED');
  const sql = 'SELECT after_id AS after FROM webhook_url_changes WHERE bot_id = ?';
  const change = bot && (await tx.get<{ after: string }>(sql, botId));
  if (bot === undefined || change === undefined) return false;
  const hasUrl = bot.webhook_url !== null;
  const ids = await idsAfter(tx, botId, change.after, hasUrl ? UNCONFIRMED_STATUSES : ['pending']);
  // Units on SQLite run one at a time and need no lock.
  const lock = 'SELECT 1 FROM webhook_deliveries WHERE bot_id = ? AND id = ANY(?) ORDER BY id FOR UPDATE';
  if (tx.engine === 'postgres') await tx.all(lock, botId, ids);
  const list = amongValues(tx, 'id', ids);
  if (hasUrl) await revive(tx, botId, restart, `${UNCONFIRMED} AND ${list.sql}`, list.value);
  else await cancel(tx, botId, ids, restart.dueAt);
  const last = ids[CHUNK - 1];
  if (last === undefined) await tx.run('DELETE FROM webhook_url_changes WHERE bot_id = ?', botId);
  else await tx.run('UPDATE webhook_url_changes SET after_id = ? WHERE bot_id = ?', last, botId);
  return last !== undefined;
}

/** Cancels a chunk of pending deliveries, without locked ones; returns their number. */
export async function cancelFree(tx: Tx, botId: string, nowIso: string): Promise<number> {
  const free = await tx.all<{ id: string }>(
    `SELECT id FROM webhook_deliveries WHERE bot_id = ? AND status = 'pending'
     ORDER BY id LIMIT ${CHUNK} FOR UPDATE SKIP LOCKED`,
    botId,
  );
  return cancel(tx, botId, idsOf(free), nowIso);
}

/** The deliveries of a replay, from the id after `after` on. */
export interface ReplayScope {
  readonly after: string;
  readonly sinceIso: string;
  readonly undeliveredOnly: boolean;
}

/** A delivery that a unit has read, and whether it is one of those that are meant. */
export interface Looked {
  readonly id: string;
  readonly isMeant: number;
}

/** A chunk of those among some deliveries that are meant, oldest first. */
export interface Meant {
  readonly ids: readonly string[];
  /** The id up to which was looked. */
  readonly last: string;
  /** Nothing follows. */
  readonly isWhole: boolean;
}

/**
 * The next chunk of a replay, or none among the next rows. Ids follow the confirmed time, which for an hour after a stop is behind that
 * of a delivery: every row is looked at.
 */
export async function replayable(
  tx: Tx,
  botId: string,
  { after, sinceIso, undeliveredOnly }: ReplayScope,
): Promise<Meant> {
  const ended = undeliveredOnly ? UNDELIVERED : `status <> 'pending'`;
  const rows = await tx.all<Looked>(
    `SELECT id, CASE WHEN created_at >= ? AND event <> 'ping' AND ${ended} THEN 1 ELSE 0 END AS "isMeant"
     FROM webhook_deliveries WHERE bot_id = ? AND id > ? ORDER BY id LIMIT ${LOOKED_AT}`,
    ...[sinceIso, botId, after],
  );
  return meantOf(rows, after);
}

/** Of at most {@link LOOKED_AT} deliveries that were read in the order of their ids, after `after`. */
export function meantOf(rows: readonly Looked[], after: string): Meant {
  const ids = idsOf(rows.filter(({ isMeant }) => Number(isMeant) === 1)).slice(0, CHUNK);
  const isFull = ids.length === CHUNK;
  return {
    ids,
    last: (isFull ? ids : idsOf(rows)).at(-1) ?? after,
    isWhole: !isFull && rows.length < LOOKED_AT,
  };
}

/** Queues one ended delivery again, whatever its outcome; a pending one is not changed. */
export function reviveOne(tx: Tx, botId: string, id: string, restart: Restart): Promise<number> {
  return revive(tx, botId, restart, `status <> 'pending' AND id = ?`, id);
}

/** The next chunk of ids in these states; each state is read from its own part of the index. */
async function idsAfter(
  tx: Tx,
  botId: string,
  after: string,
  statuses: readonly DeliveryStatus[],
): Promise<string[]> {
  const each = statuses.map(
    (status) =>
      `SELECT id FROM (SELECT id FROM webhook_deliveries
         WHERE bot_id = ? AND status = '${status}' ${status === 'pending' ? '' : `AND event <> 'ping'`} AND id > ?
         ORDER BY id LIMIT ${CHUNK}) ${status}_ones`,
  );
  const sql = `SELECT id FROM (${each.join(' UNION ALL ')}) found ORDER BY id LIMIT ${CHUNK}`;
  return idsOf(await tx.all<{ id: string }>(sql, ...statuses.flatMap(() => [botId, after])));
}

export function idsOf(rows: readonly { readonly id: string }[]): string[] {
  return rows.map(({ id }) => id);
}

function cancel(tx: Tx, botId: string, ids: readonly string[], nowIso: string): Promise<number> {
  const list = amongValues(tx, 'id', ids);
  return tx.run(
    `UPDATE webhook_deliveries SET status = 'cancelled', finished_at = ?
     WHERE bot_id = ? AND status = 'pending' AND ${list.sql}`,
    ...[nowIso, botId, list.value],
  );
}

function revive(
  tx: Tx,
  botId: string,
  { dueAt, giveUpAt }: Restart,
  condition: string,
  ...values: readonly (SqlValue | SqlList)[]
): Promise<number> {
  return tx.run(
    // While a call of the delivery runs, the next one waits for the end of its lease, which stays known after it is taken away.
    `UPDATE webhook_deliveries SET status = 'pending', retries = 0, give_up_at = ?, finished_at = NULL,
       next_attempt_at = CASE WHEN locked_until > ? THEN locked_until ELSE ? END, locked_by = NULL
     WHERE bot_id = ? AND ${condition}`,
    ...[giveUpAt, dueAt, dueAt, botId, ...values],
  );
}
