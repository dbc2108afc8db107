import {
  BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  OnApplicationBootstrap,
} from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Clock, CONFIG, type Config, describeFault, Metrics, NO_METRICS } from '@app/common';
import { UnitOfWork } from '@app/database';

const INTERVAL_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Records that one unit removes, so that nobody else waits long for the database. */
const CHUNK = 500;

/**
 * Ends what could not be attempted before its time was up, and removes the records of deliveries that ended longer
 * ago than `WEBHOOK_RETENTION_DAYS`. Never runs twice at once, and never fails anybody else.
 */
@Injectable()
export class DeliveryRetention implements OnApplicationBootstrap, BeforeApplicationShutdown {
  @Inject(Metrics) private readonly metrics: Metrics = NO_METRICS;
  private readonly logger = new Logger('Webhooks');
  private running: Promise<void> | undefined;
  private stopped = false;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  onApplicationBootstrap(): void {
    this.tick();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    await this.running;
  }

  @Interval(INTERVAL_MS)
  tick(): void {
    this.running ??= this.sweep()
      .catch((error: unknown) => this.logger.error(JSON.stringify(describeFault(error))))
      .finally(() => (this.running = undefined));
  }

  /** One pass over every bot that has deliveries. */
  async sweep(): Promise<void> {
    for (let botId = await this.botAfter(''); botId !== undefined && !this.stopped;) {
      await this.giveUp(botId);
      while ((await this.removeSome(botId)) === CHUNK && !this.stopped);
      botId = await this.botAfter(botId);
    }
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

  /** Deliveries of a receiver that was being spared until their time was up. */
  private async giveUp(botId: string): Promise<void> {
    const nowIso = this.clock.nowIso();
    const exhausted = await this.unitOfWork.write((tx) =>
      tx.run(
        `UPDATE webhook_deliveries SET status = 'exhausted', finished_at = ?, locked_by = NULL, locked_until = NULL
         WHERE bot_id = ? AND status = 'pending' AND next_attempt_at <= ? AND give_up_at <= ?`,
        ...[nowIso, botId, nowIso, nowIso],
      ),
    );
    this.metrics.count('webhookDeliveries', 'exhausted', exhausted);
  }

  private removeSome(botId: string): Promise<number> {
    const before = new Date(this.clock.nowMs() - this.config.webhookRetentionDays * DAY_MS).toISOString();
    return this.unitOfWork.write(async (tx) => {
      // Ids are in the order of time: what was queued too late to be old is not even looked at.
      const expired = await tx.all<{ id: string }>(
        `SELECT id FROM webhook_deliveries
         WHERE bot_id = ? AND id < ? AND status <> 'pending' AND finished_at < ? ORDER BY id LIMIT ?`,
        ...[botId, firstIdAt(before), before, CHUNK],
      );
      for (const { id } of expired) {
        await tx.run('DELETE FROM webhook_attempts WHERE bot_id = ? AND delivery_id = ?', botId, id);
        await tx.run('DELETE FROM webhook_deliveries WHERE bot_id = ? AND id = ?', botId, id);
      }
      return expired.length;
    });
  }
}

/** The lowest UUID of version 7 that can be made at a time. */
export function firstIdAt(iso: string): string {
  const time = Date.parse(iso).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}
