import { CALLS_COUNTED_MAX, suspendedBots, WebhookHealth, type WebhookHealthView } from '@app/bots';
import { amongValues, type Tx, UnitOfWork } from '@app/database';
import { Clock, HOUR_MS, Metrics, SharedReading } from '@app/kernel';
import { Injectable, OnApplicationBootstrap } from '@nestjs/common';

/** The table `waiting` of the bots with pending deliveries; it reads one index entry for each. */
export const WAITING_BOTS = `WITH RECURSIVE waiting (bot_id) AS (
    SELECT MIN(bot_id) FROM webhook_deliveries WHERE status = 'pending'
    UNION ALL
    SELECT (SELECT MIN(d.bot_id) FROM webhook_deliveries d WHERE d.status = 'pending' AND d.bot_id > waiting.bot_id)
    FROM waiting WHERE waiting.bot_id IS NOT NULL
  )`;

type HealthRow = Pick<WebhookHealthView, 'last_outcome' | 'last_delivered_at' | 'last_failed_at'> & {
  readonly failures: number;
};

/** The state of a bot's receiver, from the results of its calls. */
@Injectable()
export class DeliveryHealth extends WebhookHealth {
  async of(tx: Tx, botId: string): Promise<WebhookHealthView> {
    const counted = await tx.get<{ pending: number; undelivered: number }>(
      // A ping is sent once: a failed one is no call that the receiver lacks.
      `SELECT ${countOf(`= 'pending'`)} AS pending,
         ${countOf(`IN ('exhausted', 'gone', 'cancelled')`, `event <> 'ping'`)} AS undelivered`,
      ...[botId, botId],
    );
    const row = await tx.get<HealthRow>(
      'SELECT failures, last_outcome, last_delivered_at, last_failed_at FROM webhook_health WHERE bot_id = ?',
      botId,
    );
    return {
      status: row === undefined ? 'unused' : row.failures === 0 ? 'healthy' : 'failing',
      pending: counted?.pending ?? 0,
      undelivered: counted?.undelivered ?? 0,
      consecutive_failures: row?.failures ?? 0,
      last_outcome: row?.last_outcome ?? null,
      last_delivered_at: row?.last_delivered_at ?? null,
      last_failed_at: row?.last_failed_at ?? null,
    };
  }
}

/** The number of a bot's calls in some states, of those that `counts`. It reads no more rows than the limit. */
function countOf(states: string, counts = 'TRUE'): string {
  const found = `SELECT event FROM webhook_deliveries WHERE bot_id = ? AND status ${states} LIMIT ${CALLS_COUNTED_MAX}`;
  return `(SELECT COUNT(*) FROM (${found}) found WHERE ${counts})`;
}

/** The latest time of a call that is believed, as an ISO time: a machine whose clock was further ahead says nothing of today. */
export function latestCall(clock: Clock): string {
  return new Date(clock.confirmedMs() + HOUR_MS).toISOString();
}

/** At most one query in this time, for all metrics and readers. */
const HOLD_MS = 5_000;
/** Most deliveries of a kind of receiver that are counted: more are reported with this number. */
const COUNTED_MAX = 5_000;

interface Waiting {
  readonly receiver: 'healthy' | 'failing' | 'suspended';
  readonly waiting: number;
  readonly due: string;
}

/**
 * The number of deliveries in the outbox and how long they have been due. Deliveries to failing receivers are counted
 * apart: their calls are paused on purpose, and one dead receiver is no fault of the service. Deliveries of suspended
 * bots are counted apart too. A working receiver whose calls take long has a queue: they are late since it has last confirmed one.
 */
@Injectable()
export class OutboxGauges implements OnApplicationBootstrap {
  private readonly reading: SharedReading<Waiting[]>;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
  ) {
    this.reading = new SharedReading(clock, HOLD_MS, () => this.look());
  }

  onApplicationBootstrap(): void {
    this.metrics.gauge('outboxDepth', () => this.of(({ waiting }) => waiting));
    this.metrics.gauge('outboxOldestAge', () =>
      this.of(({ due }) => Math.max(0, (this.clock.confirmedMs() - Date.parse(due)) / 1000)),
    );
  }

  private async of(value: (rows: Waiting) => number): Promise<Record<Waiting['receiver'], number>> {
    const found = { healthy: 0, failing: 0, suspended: 0 };
    for (const row of await this.reading.get()) found[row.receiver] = value(row);
    return found;
  }

  private look(): Promise<Waiting[]> {
    return this.unitOfWork.read(async (tx) => {
      const suspended = amongValues(tx, 'waiting.bot_id', await suspendedBots(tx));
      // CROSS JOIN: SQLite looks for the deliveries of one bot after another, and reads no more than it counts.
      return tx.all<Waiting>(
        `${WAITING_BOTS},
         receivers AS (
           SELECT waiting.bot_id,
             CASE WHEN ${suspended.sql} THEN 'suspended' WHEN health.failures > 0 THEN 'failing' ELSE 'healthy' END
               AS receiver,
             (SELECT MIN(d.next_attempt_at) FROM webhook_deliveries d
              WHERE d.bot_id = waiting.bot_id AND d.status = 'pending') AS due,
             health.last_delivered_at AS called
           FROM waiting LEFT JOIN webhook_health health ON health.bot_id = waiting.bot_id
           WHERE waiting.bot_id IS NOT NULL
         )
         SELECT kinds.receiver, kinds.due, (SELECT COUNT(*) FROM (
             SELECT 1 FROM receivers CROSS JOIN webhook_deliveries d
             WHERE receivers.receiver = kinds.receiver AND d.bot_id = receivers.bot_id AND d.status = 'pending' LIMIT ?
           ) looked_at) AS waiting
         FROM (SELECT receiver, MIN(CASE WHEN receiver = 'healthy' AND called > due AND called <= ? THEN called ELSE due END) AS due
               FROM receivers GROUP BY receiver) kinds`,
        ...[suspended.value, COUNTED_MAX, latestCall(this.clock)],
      );
    });
  }
}
