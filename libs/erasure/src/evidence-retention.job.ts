import { Inject, Injectable } from '@nestjs/common';
import { nextBot } from '@app/bots';
import { UnitOfWork } from '@app/database';
import { type Batches, type BotSweep, PeriodicJob } from '@app/jobs';
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
export class EvidenceRetentionJob implements BotSweep {
  @Inject(Metrics) private readonly metrics: Metrics = NO_METRICS;
  readonly name = 'evidence-retention';
  readonly everyMs = 3_600_000;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly evidence: EvidenceRetention,
    private readonly remains: ErasureRemains,
  ) {}

  async nextBot(after: string): Promise<string | undefined> {
    return (await nextBot(this.unitOfWork, after))?.id;
  }

  async *batches(botId: string): Batches {
    yield* this.evidence.prune(botId);
    yield* this.remains.remove(botId);
  }

  async *afterBots(): Batches {
    yield* this.evidence.pruneOfGoneBots();
    await this.unitOfWork.scrubRows();
  }

  done(records: number): void {
    this.metrics.count('retention', 'evidence', records);
  }
}
