import { Injectable } from '@nestjs/common';
import { WebhookHealth, type WebhookHealthView } from '@app/bots';
import type { Tx } from '@app/database';
import type { Outcome } from './webhook-sender';

interface HealthRow {
  readonly failures: number;
  readonly last_outcome: Outcome;
  readonly last_delivered_at: string | null;
  readonly last_failed_at: string | null;
}

/** The state of a bot's receiver, from the results of its calls. */
@Injectable()
export class DeliveryHealth extends WebhookHealth {
  async of(tx: Tx, botId: string): Promise<WebhookHealthView> {
    const counted = await tx.get<{ pending: number; undelivered: number }>(
      `SELECT (SELECT COUNT(*) FROM webhook_deliveries WHERE bot_id = ? AND status = 'pending') AS pending,
              (SELECT COUNT(*) FROM webhook_deliveries WHERE bot_id = ? AND status IN ('exhausted', 'gone', 'cancelled'))
                AS undelivered`,
      ...[botId, botId],
    );
    const row = await tx.get<HealthRow>(
      'SELECT failures, last_outcome, last_delivered_at, last_failed_at FROM webhook_health WHERE bot_id = ?',
      botId,
    );
    const condition = row === undefined ? 'unused' : row.failures === 0 ? 'healthy' : 'failing';
    return {
      status: condition,
      pending: Number(counted?.pending ?? 0),
      undelivered: Number(counted?.undelivered ?? 0),
      consecutive_failures: row?.failures ?? 0,
      last_outcome: row?.last_outcome ?? null,
      last_delivered_at: row?.last_delivered_at ?? null,
      last_failed_at: row?.last_failed_at ?? null,
    };
  }
}
