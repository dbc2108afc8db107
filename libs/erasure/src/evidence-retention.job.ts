import { Inject, Injectable, Logger } from '@nestjs/common';
import { nextBot } from '@app/bots';
import { UnitOfWork } from '@app/database';
import { botByBot, type Job, type Lease, PeriodicJob } from '@app/jobs';
import { Metrics, NO_METRICS } from '@app/metrics';
import { ErasureRemains } from './erasure-remains';
import { EvidenceRetention } from './evidence-retention';

/**
 * Removes records older than `EVIDENCE_RETENTION_DAYS` every hour, and after a downtime at the start; also what the files of
 * the engine still hold in the clear of rows that were deleted or changed since the last run, of bots and API keys too, and the rows that erasures of an
 * older version have left.
 */
@PeriodicJob({ lookEveryMs: 60_000 })
@Injectable()
export class EvidenceRetentionJob implements Job {
  @Inject(Metrics) private readonly metrics: Metrics = NO_METRICS;
  readonly name = 'evidence-retention';
  readonly everyMs = 3_600_000;
  private readonly logger = new Logger(EvidenceRetentionJob.name);

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly evidence: EvidenceRetention,
    private readonly remains: ErasureRemains,
  ) {}

  async run(lease: Lease, stopping: AbortSignal): Promise<void> {
    const prune = async (botId: string): Promise<void> => {
      this.metrics.count('retention', 'evidence', await this.evidence.prune(lease, botId, stopping));
      await this.remains.remove(lease, botId, stopping);
    };
    await lease.keep(async () => {
      await botByBot(
        async (after) => (await nextBot(this.unitOfWork, after))?.id,
        prune,
        stopping,
        this.logger,
      );
      this.metrics.count('retention', 'evidence', await this.evidence.pruneOfGoneBots(lease, stopping));
      if (!stopping.aborted) await this.unitOfWork.scrubRows();
    });
  }
}
