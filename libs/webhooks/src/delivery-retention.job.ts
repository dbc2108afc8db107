import { Inject, Injectable, OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { UnitOfWork } from '@app/database';
import { type Job, JobRunner, type Lease } from '@app/jobs';
import { Clock, CONFIG, type Config, firstIdAt } from '@app/kernel';
import { Metrics, NO_METRICS } from '@app/metrics';
import { CHUNK, exhaustSome } from './delivery-states';

/** Whether it is due is asked this often. */
const INTERVAL_MS = 60_000;

/** Deliveries of a receiver that was being spared until their time was up. */
const OVERDUE = `bot_id = ? AND status = 'pending' AND next_attempt_at <= ? AND give_up_at <= ?`;
/** Ids are in the order of time: what was queued too late to be old is not even looked at. */
const EXPIRED = `bot_id = ? AND id < ? AND status <> 'pending' AND finished_at < ?`;

/**
 * Ends what could not be attempted before its time was up, and removes the records of deliveries that ended longer
 * ago than `WEBHOOK_RETENTION_DAYS`. Never runs twice at once, in one process or several, and never fails anybody else.
 */
@Injectable()
export class DeliveryRetention implements Job, OnApplicationBootstrap {
  @Inject(Metrics) private readonly metrics: Metrics = NO_METRICS;
  readonly name = 'delivery-retention';
  readonly everyMs = 3_600_000;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly jobs: JobRunner,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  onApplicationBootstrap(): void {
    this.tick();
  }

  @Interval(INTERVAL_MS)
  tick(): void {
    void this.jobs.run(this);
  }

  /** One pass now, due or not, unless another process is at it. */
  sweep(): Promise<void> {
    return this.jobs.run(this, 'now');
  }

  /** One pass over every bot that has deliveries. */
  run(lease: Lease, stopping: AbortSignal): Promise<void> {
    return lease.keep(async () => {
      for (let botId = await this.botAfter(''); botId !== undefined && !stopping.aborted;) {
        await this.giveUp(lease, botId, stopping);
        await this.removeOld(lease, botId, stopping);
        botId = await this.botAfter(botId);
      }
    });
  }

  private async botAfter(botId: string): Promise<string | undefined> {
    const row = await this.unitOfWork.read((tx) =>
      tx.get<{ bot_id: string | null }>(
        'SELECT MIN(bot_id) AS bot_id FROM webhook_deliveries WHERE bot_id > ?',
        botId,
      ),
    );
    return row?.bot_id ?? undefined;
  }

  private async giveUp(lease: Lease, botId: string, stopping: AbortSignal): Promise<void> {
    const nowIso = this.clock.nowIso();
    while (!stopping.aborted && (await this.has(OVERDUE, [botId, nowIso, nowIso]))) {
      const exhausted = await lease.batch((tx) => exhaustSome(tx, botId, nowIso));
      this.metrics.count('webhookDeliveries', 'exhausted', exhausted);
      if (exhausted < CHUNK) return;
    }
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
      // What somebody else holds is for the next pass.
      if (removed < CHUNK) return;
    }
  }

  private async has(condition: string, values: readonly string[]): Promise<boolean> {
    const sql = `SELECT 1 FROM webhook_deliveries WHERE ${condition} LIMIT 1`;
    return (await this.unitOfWork.get(sql, ...values)) !== undefined;
  }
}
