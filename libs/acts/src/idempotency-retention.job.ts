import { Injectable } from '@nestjs/common';
import { type Batches, type BotSweep, pages, PeriodicJob, UnitOfWork } from '@app/database';
import { Clock } from '@app/kernel';
import { REPLAYED_DAYS } from './answers';

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
export class IdempotencyRetention implements BotSweep {
  readonly name = 'idempotency-retention';
  readonly everyMs = 3_600_000;
  readonly bots = 'idempotency_keys';

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  async *batches(botId: string): Batches {
    const before = this.clock.daysAgoIso(REPLAYED_DAYS);
    const look = (after?: Looked): Promise<Looked[]> =>
      this.unitOfWork.read((tx) => tx.all(LOOK, botId, after?.id ?? ''));
    for await (const page of pages(BATCH, look))
      yield page.some(({ created_at: at }) => at <= before)
        ? (tx) => tx.run(REMOVE, botId, page[0]?.id ?? '', page.at(-1)?.id ?? '', before)
        : undefined;
  }
}
