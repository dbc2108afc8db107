import { Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { UnitOfWork } from '@app/database';
import { botByBot, type Job, JobRunner, type Lease } from '@app/jobs';
import type { ConsentedTable } from '@app/subjects';
import { BEGIN, ConsentedTables, type Place } from './consented-tables';
import type { ErasureReason } from './due-values';

/** Whether it is due is asked this often. */
const INTERVAL_MS = 15_000;

const REASONS: readonly ErasureReason[] = ['consent_revoked', 'retention'];

/**
 * Erases the due rows of other modules within a minute: after a revocation and its `REVOKED_DATA_GRACE_DAYS`, and after the
 * `retention_days` of their category. Without such a module it does nothing.
 */
@Injectable()
export class ConsentedTablesErasure implements Job, OnApplicationBootstrap {
  readonly name = 'consented-tables';
  readonly everyMs = 2 * INTERVAL_MS;
  private readonly logger = new Logger(ConsentedTablesErasure.name);

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly jobs: JobRunner,
    private readonly tables: ConsentedTables,
  ) {}

  onApplicationBootstrap(): void {
    this.tick();
  }

  @Interval(INTERVAL_MS)
  tick(): void {
    if (this.tables.all().length > 0) void this.jobs.run(this);
  }

  /** One run now, due or not, unless another process runs it. */
  sweep(): Promise<void> {
    return this.jobs.run(this, 'now');
  }

  async run(lease: Lease, stopping: AbortSignal): Promise<void> {
    let erases = false;
    await lease.keep(async () => {
      for (const one of this.tables.all()) {
        const erase = async (botId: string): Promise<void> => {
          for (const reason of REASONS)
            if (await this.eraseDue(lease, botId, one, reason, stopping)) erases = true;
        };
        await botByBot((after) => this.botAfter(one, after), erase, stopping, this.logger);
      }
    });
    if (erases) await this.unitOfWork.scrub();
  }

  /** Answers whether anything was due. */
  private async eraseDue(
    lease: Lease,
    botId: string,
    one: ConsentedTable,
    reason: ErasureReason,
    stopping: AbortSignal,
  ): Promise<boolean> {
    if (!(await this.unitOfWork.read((tx) => this.tables.isDue(tx, botId, one, reason)))) return false;
    for (let at: Place | undefined = BEGIN; at !== undefined && !stopping.aborted;) {
      const after: Place = at;
      at = await lease.batch((tx) => this.tables.eraseDue(tx, botId, one, reason, after));
    }
    return true;
  }

  private async botAfter({ table }: ConsentedTable, botId: string): Promise<string | undefined> {
    const row = await this.unitOfWork.get<{ bot_id: string }>(
      `SELECT bot_id FROM ${table} WHERE bot_id > ? ORDER BY bot_id LIMIT 1`,
      botId,
    );
    return row?.bot_id;
  }
}
