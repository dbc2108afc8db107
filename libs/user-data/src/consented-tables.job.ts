import { Injectable, Logger } from '@nestjs/common';
import { UnitOfWork } from '@app/database';
import { botByBot, type Job, type Lease, PeriodicJob } from '@app/jobs';
import type { ConsentedTable } from '@app/subjects';
import { BEGIN, ConsentedTables, type Place } from './consented-tables';
import type { ErasureReason } from './due-values';

const REASONS: readonly ErasureReason[] = ['consent_revoked', 'retention'];

/**
 * Erases the due rows of other modules within a minute: after a revocation and its `REVOKED_DATA_GRACE_DAYS`, and after the
 * `retention_days` of their category. Without such a module it does nothing.
 */
@PeriodicJob({ lookEveryMs: 15_000 })
@Injectable()
export class ConsentedTablesErasure implements Job {
  readonly name = 'consented-tables';
  readonly everyMs = 30_000;
  private readonly logger = new Logger(ConsentedTablesErasure.name);

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly tables: ConsentedTables,
  ) {}

  async run(lease: Lease, stopping: AbortSignal): Promise<void> {
    await lease.keep(async () => {
      for (const one of this.tables.all()) {
        const erase = async (botId: string): Promise<void> => {
          for (const reason of REASONS) await this.eraseDue(lease, botId, one, reason, stopping);
        };
        await botByBot((after) => this.botAfter(one, after), erase, stopping, this.logger);
      }
    });
  }

  private async eraseDue(
    lease: Lease,
    botId: string,
    one: ConsentedTable,
    reason: ErasureReason,
    stopping: AbortSignal,
  ): Promise<void> {
    if (!(await this.unitOfWork.read((tx) => this.tables.isDue(tx, botId, one, reason)))) return;
    for (let at: Place | undefined = BEGIN; at !== undefined && !stopping.aborted;) {
      const after: Place = at;
      at = await lease.batch((tx) => this.tables.eraseDue(tx, botId, one, reason, after));
    }
  }

  private async botAfter({ table }: ConsentedTable, botId: string): Promise<string | undefined> {
    const row = await this.unitOfWork.get<{ bot_id: string }>(
      `SELECT bot_id FROM ${table} WHERE bot_id > ? ORDER BY bot_id LIMIT 1`,
      botId,
    );
    return row?.bot_id;
  }
}
