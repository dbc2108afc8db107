import { Injectable, Logger } from '@nestjs/common';
import { pages, UnitOfWork } from '@app/database';
import { botByBot, type Job, type Lease, nextBotBy, PeriodicJob } from '@app/jobs';
import { Clock } from '@app/kernel';
import { REPLAYED_DAYS } from './answers';

const NEXT_BOT = 'SELECT MIN(bot_id) AS bot_id FROM idempotency_keys WHERE bot_id > ?';

/** Rows looked at in one read, and removed by one unit at most. */
const BATCH = 500;
const LOOK = `SELECT id, created_at FROM idempotency_keys WHERE bot_id = ? AND id > ? ORDER BY id LIMIT ${BATCH}`;
const REMOVE = 'DELETE FROM idempotency_keys WHERE bot_id = ? AND id BETWEEN ? AND ? AND created_at <= ?';

interface Looked {
  readonly id: string;
  readonly created_at: string;
}

/**
 * Removes idempotency keys whose answer is not replayed any more, at most an hour later. It looks at every row: an index
 * by time would cost each request that writes one more than an hourly look.
 */
@PeriodicJob({ lookEveryMs: 60_000 })
@Injectable()
export class IdempotencyRetention implements Job {
  readonly name = 'idempotency-retention';
  readonly everyMs = 3_600_000;
  private readonly logger = new Logger(IdempotencyRetention.name);

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  async run(lease: Lease, stopping: AbortSignal): Promise<void> {
    const remove = async (botId: string): Promise<void> => {
      const before = this.clock.daysAgoIso(REPLAYED_DAYS);
      const look = (after?: Looked): Promise<Looked[]> =>
        this.unitOfWork.read((tx) => tx.all<Looked>(LOOK, botId, after?.id ?? ''));
      for await (const page of pages(BATCH, look)) {
        if (stopping.aborted) return;
        if (page.every(({ created_at: at }) => at > before)) continue;
        await lease.batch((tx) => tx.run(REMOVE, botId, page[0]?.id ?? '', page.at(-1)?.id ?? '', before));
      }
    };
    await lease.keep(() => botByBot(nextBotBy(this.unitOfWork, NEXT_BOT), remove, stopping, this.logger));
  }
}
