import type { UnitOfWork } from '@app/database';

/** The state of all audit logs for the operator. */
export interface LogState {
  /** Logs with events that are not sealed. */
  readonly unsealed: number;
  /** The time of the oldest of these events. */
  readonly oldestUnsealed: string | undefined;
  /** The time of the newest event. */
  readonly newest: string | undefined;
}

const SEALED = '(SELECT last_seq FROM audit_heads WHERE bot_id = bot.id)';
/** Lower than the place of any event. */
const BEGINNING = Number.MIN_SAFE_INTEGER;

export async function logState(unitOfWork: UnitOfWork): Promise<LogState> {
  const row = await unitOfWork.snapshot((tx) =>
    tx.get<{
      readonly unsealed: number | string;
      readonly oldest: string | null;
      readonly newest: string | null;
    }>(
      `SELECT COUNT(behind) AS unsealed, MIN(behind) AS oldest, MAX(newest) AS newest FROM (
       SELECT (SELECT created_at FROM audit_events WHERE bot_id = bot.id AND seq > COALESCE(${SEALED}, ${BEGINNING})
               ORDER BY seq LIMIT 1) AS behind,
         (SELECT created_at FROM audit_events WHERE bot_id = bot.id ORDER BY seq DESC LIMIT 1) AS newest
       FROM bots bot) logs`,
    ),
  );
  return {
    unsealed: Number(row?.unsealed ?? 0),
    oldestUnsealed: row?.oldest ?? undefined,
    newest: row?.newest ?? undefined,
  };
}
