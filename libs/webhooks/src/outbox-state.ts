import { suspendedBots } from '@app/bots';
import { amongValues, type UnitOfWork } from '@app/database';

/** The state of the outbox for the operator. */
export interface OutboxState {
  /** When the oldest waiting call of a bot that is not suspended is due. */
  readonly oldestDue: string | undefined;
  /** Calls that were given up and can be sent again by hand. */
  readonly exhausted: number;
  /** Suspended bots with waiting calls. */
  readonly suspended: number;
}

export function outboxState(unitOfWork: UnitOfWork): Promise<OutboxState> {
  return unitOfWork.snapshot(async (tx) => {
    const among = amongValues(tx, 'bot_id', await suspendedBots(tx));
    const due = await tx.get<{ at: string | null }>(
      `SELECT MIN(next_attempt_at) AS at FROM webhook_deliveries WHERE status = 'pending' AND NOT (${among.sql})`,
      among.value,
    );
    const held = await tx.get<{ total: number | string }>(
      `SELECT COUNT(DISTINCT bot_id) AS total FROM webhook_deliveries WHERE status = 'pending' AND ${among.sql}`,
      among.value,
    );
    const exhausted = await tx.get<{ total: number | string }>(
      `SELECT COUNT(*) AS total FROM webhook_deliveries WHERE status = 'exhausted'`,
    );
    return {
      oldestDue: due?.at ?? undefined,
      exhausted: Number(exhausted?.total ?? 0),
      suspended: Number(held?.total ?? 0),
    };
  });
}
