import { Inject, Injectable } from '@nestjs/common';
import { suspensionOf } from '@app/bots';
import { amongValues, UnitOfWork } from '@app/database';
import { type Job, type Lease, nextBotBy, PeriodicJob } from '@app/jobs';
import { Clock, CONFIG, type Config, DomainEvents, firstIdAt } from '@app/kernel';
import { Metrics, NO_METRICS } from '@app/metrics';
import { DeliveriesSettled } from './delivery-results';
import { CHUNK, RetrySchedule } from './delivery-states';

const NEXT_BOT = 'SELECT MIN(bot_id) AS bot_id FROM webhook_deliveries WHERE bot_id > ?';
/** Deliveries whose receiver was being spared until their time was up. */
const OVERDUE = `bot_id = ? AND status = 'pending' AND next_attempt_at <= ? AND give_up_at <= ?`;
/** Ids follow the time, so that later deliveries are not read. */
const EXPIRED = `bot_id = ? AND id < ? AND status <> 'pending' AND finished_at < ?`;

/**
 * Gives up deliveries whose time is up, unless their bot is suspended, and removes records of deliveries that ended more
 * than `WEBHOOK_RETENTION_DAYS` ago. One run at a time over all processes. Rows locked by other units are skipped.
 */
@PeriodicJob({ lookEveryMs: 60_000 })
@Injectable()
export class DeliveryRetention implements Job {
  @Inject(Metrics) private readonly metrics: Metrics = NO_METRICS;
  readonly name = 'delivery-retention';
  readonly everyMs = 3_600_000;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
    private readonly schedule: RetrySchedule,
    private readonly events: DomainEvents,
  ) {}

  /** One pass over every bot that has deliveries. */
  run(lease: Lease, stopping: AbortSignal): Promise<void> {
    return lease.keep(async () => {
      const next = nextBotBy(this.unitOfWork, NEXT_BOT);
      for (let botId = await next(''); botId !== undefined && !stopping.aborted;) {
        await this.giveUp(lease, botId, stopping);
        await this.removeOld(lease, botId, stopping);
        botId = await next(botId);
      }
    });
  }

  private async giveUp(lease: Lease, botId: string, stopping: AbortSignal): Promise<void> {
    const nowIso = this.clock.confirmedIso();
    const overdue = [botId, nowIso, nowIso];
    while (!stopping.aborted && (await this.has(OVERDUE, overdue))) {
      if (await this.hasWaited(botId, nowIso)) return;
      const exhausted = await lease.batch(async (tx) => {
        const some = await tx.all<{ id: string; event: string }>(
          `SELECT id, event FROM webhook_deliveries WHERE ${OVERDUE}
           ORDER BY next_attempt_at LIMIT ${CHUNK} FOR UPDATE SKIP LOCKED`,
          ...overdue,
        );
        const ids = some.map(({ id }) => id);
        const list = amongValues(tx, 'id', ids);
        await tx.run(
          `UPDATE webhook_deliveries SET status = 'exhausted', finished_at = ?, locked_by = NULL, locked_until = NULL
           WHERE bot_id = ? AND ${list.sql}`,
          ...[nowIso, botId, list.value],
        );
        const settled = some.filter(({ event }) => event !== 'ping').length;
        await this.events.publish(new DeliveriesSettled(tx, { botId, at: nowIso, exhausted: settled }));
        return some.length;
      });
      this.metrics.count('webhookDeliveries', 'exhausted', exhausted);
      if (exhausted < CHUNK) return;
    }
  }

  /** Whether the calls of the bot wait for the end of its suspension, or have a schedule that began with that end. */
  private async hasWaited(botId: string, nowIso: string): Promise<boolean> {
    const bot = await suspensionOf(this.unitOfWork, botId);
    if (bot === undefined || bot.suspended_at !== null) return true;
    return this.schedule.giveUpMs(nowIso, bot.resumed_at) > Date.parse(nowIso);
  }

  private async removeOld(lease: Lease, botId: string, stopping: AbortSignal): Promise<void> {
    const before = this.clock.daysAgoIso(this.config.webhookRetentionDays);
    const expired = [botId, firstIdAt(before), before];
    while (!stopping.aborted && (await this.has(EXPIRED, expired))) {
      const removed = await lease.batch(async (tx) => {
        const some = await tx.all<{ id: string }>(
          `SELECT id FROM webhook_deliveries WHERE ${EXPIRED} ORDER BY id LIMIT ? FOR UPDATE SKIP LOCKED`,
          ...[...expired, CHUNK],
        );
        for (const { id } of some) {
          await tx.run('DELETE FROM webhook_attempts WHERE bot_id = ? AND delivery_id = ?', botId, id);
          await tx.run('DELETE FROM webhook_deliveries WHERE bot_id = ? AND id = ?', botId, id);
        }
        return some.length;
      });
      // Locked rows are left to the next pass.
      if (removed < CHUNK) return;
    }
  }

  private async has(condition: string, values: readonly string[]): Promise<boolean> {
    const sql = `SELECT 1 FROM webhook_deliveries WHERE ${condition} LIMIT 1`;
    return (await this.unitOfWork.get(sql, ...values)) !== undefined;
  }
}
