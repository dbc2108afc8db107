import { Inject, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { UnitOfWork } from '@app/database';
import { botByBot, type Job, JobRunner, type Lease } from '@app/jobs';
import { Clock, CONFIG, type Config } from '@app/kernel';
import { BATCH, DueValues } from './due-values';

/** Whether it is due is asked this often. */
const INTERVAL_MS = 15_000;

/**
 * Erases what a withdrawn consent has left once `REVOKED_DATA_GRACE_DAYS` are over, within a minute, or after a downtime at the
 * start; with `off` never.
 */
@Injectable()
export class WithdrawnDataErasure implements Job, OnApplicationBootstrap {
  readonly name = 'withdrawn-data';
  readonly everyMs = 2 * INTERVAL_MS;
  private readonly logger = new Logger(WithdrawnDataErasure.name);

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly jobs: JobRunner,
    private readonly values: DueValues,
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

  async run(lease: Lease, stopping: AbortSignal): Promise<void> {
    const graceDays = this.config.revokedDataGraceDays;
    if (graceDays === undefined) return;
    let erases = false;
    const erase = async (botId: string): Promise<void> => {
      if (!(await this.isDue(botId, this.clock.daysAgoIso(graceDays)))) return;
      erases = true;
      // A batch that is not full was the last: what somebody else is at is for the next pass.
      for (let looked = BATCH; looked === BATCH && !stopping.aborted;)
        looked = await lease.batch((tx) => this.values.eraseWithdrawn(tx, botId));
    };
    await lease.keep(() => botByBot((after) => this.botAfter(after), erase, stopping, this.logger));
    if (erases) await this.unitOfWork.scrub();
  }

  private async isDue(botId: string, before: string): Promise<boolean> {
    const sql = 'SELECT 1 FROM user_data WHERE bot_id = ? AND withdrawn_at <= ? LIMIT 1';
    return (await this.unitOfWork.get(sql, botId, before)) !== undefined;
  }

  private async botAfter(botId: string): Promise<string | undefined> {
    const row = await this.unitOfWork.get<{ bot_id: string }>(
      'SELECT bot_id FROM user_data WHERE bot_id > ? AND withdrawn_at IS NOT NULL ORDER BY bot_id LIMIT 1',
      botId,
    );
    return row?.bot_id;
  }
}
