import { Injectable, Logger } from '@nestjs/common';
import { UnitOfWork } from '@app/database';
import { botByBot, type Job, type Lease, nextBotBy, PeriodicJob } from '@app/jobs';
import { Clock } from '@app/kernel';
import { REPLAYED_DAYS } from './claim';

const NEXT_BOT = 'SELECT MIN(bot_id) AS bot_id FROM idempotency_keys WHERE bot_id > ?';

/** Rows removed by one unit. */
const BATCH = 500;

/** Removes idempotency keys a day after their request. */
@PeriodicJob({ lookEveryMs: 60_000 })
@Injectable()
export class IdempotencyRetention implements Job {
  readonly name = 'idempotency-retention';
  readonly everyMs = 600_000;
  private readonly logger = new Logger(IdempotencyRetention.name);

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  async run(lease: Lease, stopping: AbortSignal): Promise<void> {
    const remove = async (botId: string): Promise<void> => {
      const before = this.clock.daysAgoIso(REPLAYED_DAYS);
      while (!stopping.aborted && (await this.isDue(botId, before))) {
        const removed = await lease.batch((tx) =>
          tx.run(
            `DELETE FROM idempotency_keys WHERE bot_id = ? AND id IN (
               SELECT id FROM idempotency_keys WHERE bot_id = ? AND created_at <= ?
               ORDER BY created_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`,
            ...[botId, botId, before],
          ),
        );
        if (removed < BATCH) return;
      }
    };
    await lease.keep(() => botByBot(nextBotBy(this.unitOfWork, NEXT_BOT), remove, stopping, this.logger));
  }

  private async isDue(botId: string, before: string): Promise<boolean> {
    const sql = 'SELECT 1 FROM idempotency_keys WHERE bot_id = ? AND created_at <= ? LIMIT 1';
    return (await this.unitOfWork.get(sql, botId, before)) !== undefined;
  }
}
