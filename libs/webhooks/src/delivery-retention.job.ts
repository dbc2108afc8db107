import { Inject, Injectable } from '@nestjs/common';
import { suspensionOf } from '@app/bots';
import { amongValues, type Batches, type BotSweep, PeriodicJob, type Tx, UnitOfWork } from '@app/database';
import { Clock, type Config, CONFIG, DomainEvents, firstIdAt, Metrics, NO_METRICS } from '@app/kernel';
import { DeliveriesSettled } from './delivery-results';
import { CHUNK, RetrySchedule } from './delivery-states';

/** Deliveries whose time is up. One without any attempt has it yet to come, unless its receiver is being spared. */
const OVERDUE = `bot_id = ? AND status = 'pending' AND next_attempt_at <= ? AND give_up_at <= ?
  AND (attempts > 0 OR
    (SELECT failures FROM webhook_health WHERE webhook_health.bot_id = webhook_deliveries.bot_id) > 0)`;
/** Ids follow the time, so that later deliveries are not read. */
const EXPIRED = `bot_id = ? AND id < ? AND status <> 'pending' AND finished_at < ?`;

/**
 * Gives up deliveries whose time is up, unless their bot is suspended, and removes records of deliveries that ended more
 * than `WEBHOOK_RETENTION_DAYS` ago. One run at a time over all processes. Rows locked by other units are skipped.
 */
@PeriodicJob({ lookEveryMs: 60_000 })
@Injectable()
export class DeliveryRetention implements BotSweep {
  @Inject(Metrics) private readonly metrics: Metrics = NO_METRICS;
  readonly name = 'delivery-retention';
  readonly everyMs = 3_600_000;
  readonly bots = 'webhook_deliveries';

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
    private readonly schedule: RetrySchedule,
    private readonly events: DomainEvents,
  ) {}

  /** Locked rows are left to the next run. */
  async *batches(botId: string): Batches {
    const now = this.clock.confirmedIso();
    const isOverdue = async (): Promise<boolean> =>
      (await this.has(OVERDUE, [botId, now, now])) && !(await this.hasWaited(botId, now));
    while ((await isOverdue()) && (yield (tx) => this.giveUpSome(tx, botId, now)) === CHUNK);
    const before = this.clock.daysAgoIso(this.config.webhookRetentionDays);
    const expired = [botId, firstIdAt(before), before];
    while ((await this.has(EXPIRED, expired)) && (yield (tx) => removeSome(tx, expired)) === CHUNK);
  }

  private async giveUpSome(tx: Tx, botId: string, at: string): Promise<number> {
    const some = await tx.all<{ id: string; event: string }>(
      `SELECT id, event FROM webhook_deliveries WHERE ${OVERDUE}
       ORDER BY next_attempt_at LIMIT ${CHUNK} FOR UPDATE SKIP LOCKED`,
      ...[botId, at, at],
    );
    const ids = some.map(({ id }) => id);
    const list = amongValues(tx, 'id', ids);
    await tx.run(
      `UPDATE webhook_deliveries SET status = 'exhausted', finished_at = ?, locked_by = NULL, locked_until = NULL
       WHERE bot_id = ? AND ${list.sql}`,
      ...[at, botId, list.value],
    );
    const settled = some.filter(({ event }) => event !== 'ping').length;
    await this.events.publish(new DeliveriesSettled(tx, { botId, at, exhausted: settled }));
    tx.afterCommit(() => this.metrics.count('webhookDeliveries', 'exhausted', some.length));
    return some.length;
  }

  /** Whether the calls of the bot wait for the end of its suspension, or have a schedule that began with that end. */
  private async hasWaited(botId: string, nowIso: string): Promise<boolean> {
    const bot = await suspensionOf(this.unitOfWork, botId);
    if (bot === undefined || bot.suspended_at !== null) return true;
    return this.schedule.giveUpMs(nowIso, bot.resumed_at) > Date.parse(nowIso);
  }

  private async has(condition: string, values: readonly string[]): Promise<boolean> {
    const sql = `SELECT 1 FROM webhook_deliveries WHERE ${condition} LIMIT 1`;
    return (await this.unitOfWork.get(sql, ...values)) !== undefined;
  }
}

async function removeSome(tx: Tx, expired: readonly string[]): Promise<number> {
  const [botId = ''] = expired;
  const some = await tx.all<{ id: string }>(
    `SELECT id FROM webhook_deliveries WHERE ${EXPIRED} ORDER BY id LIMIT ? FOR UPDATE SKIP LOCKED`,
    ...[...expired, CHUNK],
  );
  for (const { id } of some) {
    await tx.run('DELETE FROM webhook_attempts WHERE bot_id = ? AND delivery_id = ?', botId, id);
    await tx.run('DELETE FROM webhook_deliveries WHERE bot_id = ? AND id = ?', botId, id);
  }
  return some.length;
}
