import { Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { UnitOfWork } from '@app/database';
import { botByBot, type Job, JobRunner, type Lease } from '@app/jobs';
import { Clock } from '@app/kernel';
import { BATCH, DueValues } from './due-values';

/** Whether it is due is asked this often. */
const INTERVAL_MS = 60_000;

/** Holds every category to its `retention_days`, as they are when it runs; what was due meanwhile goes after a downtime too. */
@Injectable()
export class CategoryRetention implements Job, OnApplicationBootstrap {
  readonly name = 'category-retention';
  readonly everyMs = 3_600_000;
  private readonly logger = new Logger(CategoryRetention.name);

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly jobs: JobRunner,
    private readonly values: DueValues,
    private readonly clock: Clock,
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

  async run(lease: Lease, stopping: AbortSignal): Promise<void> {
    let erases = false;
    const retain = async (botId: string): Promise<void> => {
      for (const key of await this.categoriesDue(botId)) {
        erases = true;
        // A batch that is not full was the last: what somebody else is at is for the next pass.
        for (let looked = BATCH; looked === BATCH && !stopping.aborted;)
          looked = await lease.batch((tx) => this.values.eraseAged(tx, botId, key));
      }
    };
    await lease.keep(() => botByBot((after) => this.botAfter(after), retain, stopping, this.logger));
    if (erases) await this.unitOfWork.scrub();
  }

  private categoriesDue(botId: string): Promise<string[]> {
    return this.unitOfWork.read(async (tx) => {
      const limited = await tx.all<{ key: string; retention_days: number | string }>(
        'SELECT key, retention_days FROM categories WHERE bot_id = ? AND retention_days IS NOT NULL ORDER BY key',
        botId,
      );
      const due: string[] = [];
      for (const { key, retention_days: days } of limited) {
        const sql =
          'SELECT 1 FROM user_data WHERE bot_id = ? AND category_key = ? AND retention_from <= ? LIMIT 1';
        if ((await tx.get(sql, botId, key, this.clock.daysAgoIso(Number(days)))) !== undefined) due.push(key);
      }
      return due;
    });
  }

  private async botAfter(botId: string): Promise<string | undefined> {
    const row = await this.unitOfWork.get<{ bot_id: string }>(
      'SELECT bot_id FROM categories WHERE bot_id > ? AND retention_days IS NOT NULL ORDER BY bot_id LIMIT 1',
      botId,
    );
    return row?.bot_id;
  }
}
