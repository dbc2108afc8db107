import { setImmediate as nextTurn } from 'node:timers/promises';
import { botPages, suspendedBots } from '@app/bots';
import { givenRows, type Tx, type UnitOfWork } from '@app/database';
import type { Clock } from '@app/kernel';
import { latestCall } from './delivery-health';

/** The state of the outbox for the operator. */
export interface OutboxState {
  /** Calls that wait, of all bots. */
  readonly waiting: number;
  /**
   * When the oldest waiting call is due, of all bots that are not suspended. Calls to a receiver that fails wait on purpose, but a
   * worker tries one every ten minutes, and a working receiver can take long for each: the last call counts, if that is later.
   */
  readonly oldestDue: string | undefined;
  /** Calls that were given up and can be sent again by hand. A ping is none of them. */
  readonly exhausted: number;
  /** Suspended bots with waiting calls. */
  readonly suspended: number;
}

/** Bots of one unit, and the most calls of a bot that are counted in each state. */
const BOTS = 100;
const COUNTED_MAX = 1_000;
/** The most calls of a bot that are read for it: failed pings are among them. */
const READ_MAX = 10 * COUNTED_MAX;

interface OfBot {
  readonly bot_id: string;
  readonly due: string | null;
  /** The last failure, or the last confirmation if the receiver works. */
  readonly called: string | null;
  readonly waiting: number;
  readonly exhausted: number;
}

const callsOf = (status: string, counts = 'TRUE'): string =>
  `(SELECT COUNT(*) FROM (
     SELECT 1 FROM (SELECT event FROM webhook_deliveries
       WHERE bot_id = given.bot_id AND status = '${status}' LIMIT ${READ_MAX}) looked_at
     WHERE ${counts} LIMIT ${COUNTED_MAX}
   ) found) AS`;

/** Reads page by page of the bots, and other requests are answered in between. Of each bot it counts 1,000 calls at most. */
export async function outboxState(unitOfWork: UnitOfWork, clock: Clock): Promise<OutboxState> {
  const latest = latestCall(clock);
  const suspended = new Set(await unitOfWork.read(suspendedBots));
  const state = { waiting: 0, oldestDue: undefined as string | undefined, exhausted: 0, suspended: 0 };
  for await (const ids of botPages(unitOfWork, BOTS)) {
    // A read of SQLite gives the event loop no turn.
    await nextTurn();
    for (const { bot_id: botId, due, called, ...calls } of await unitOfWork.read((tx) => ofBots(tx, ids))) {
      const [waiting, exhausted] = [calls.waiting, calls.exhausted];
      state.waiting += waiting;
      state.exhausted += exhausted;
      if (due === null) continue;
      const since = called !== null && called > due && called <= latest ? called : due;
      if (suspended.has(botId)) state.suspended += 1;
      else if (state.oldestDue === undefined || since < state.oldestDue) state.oldestDue = since;
    }
  }
  return state;
}

function ofBots(tx: Tx, ids: readonly string[]): Promise<OfBot[]> {
  const given = givenRows(
    tx,
    ['bot_id'],
    ids.map((id) => [id]),
  );
  return tx.all<OfBot>(
    `SELECT given.bot_id, ${callsOf('pending')} waiting, ${callsOf('exhausted', `event <> 'ping'`)} exhausted,
       (SELECT CASE WHEN failures > 0 THEN last_failed_at ELSE last_delivered_at END
        FROM webhook_health WHERE bot_id = given.bot_id) AS called,
       (SELECT MIN(next_attempt_at) FROM webhook_deliveries WHERE bot_id = given.bot_id AND status = 'pending') AS due
     FROM ${given.sql}`,
    ...given.values,
  );
}
