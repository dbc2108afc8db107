import { Inject, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { UnitOfWork } from '@app/database';
import { botByBot, type Job, JobRunner, type Lease } from '@app/jobs';
import { Metrics, NO_METRICS } from '@app/metrics';
import { EvidenceRetention } from './evidence-retention';

/** Whether it is due is asked this often. */
const INTERVAL_MS = 60_000;

/** Removes installation that is older than `EVIDENCE_RETENTION_DAYS`, every hour; what was due during a downtime goes after it. */
@Injectable()
export class EvidenceRetentionJob implements Job, OnApplicationBootstrap {
  @Inject(Metrics) private readonly metrics: Metrics = NO_METRICS;
  readonly name = 'evidence-retention';
  readonly everyMs = 3_600_000;
  private readonly logger = new Logger(EvidenceRetentionJob.name);

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly jobs: JobRunner,
    private readonly evidence: EvidenceRetention,
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
    let removes = false;
    const prune = async (botId: string): Promise<void> => {
      const removed = await this.evidence.prune(lease, botId, stopping);
      removes ||= removed > 0;
      this.metrics.count('retention', 'evidence', removed);
    };
    await lease.keep(async () => {
      await botByBot((after) => this.botAfter(after), prune, stopping, this.logger);
      const removed = await this.evidence.pruneOfGoneBots(lease, stopping);
      removes ||= removed > 0;
      this.metrics.count('retention', 'evidence', removed);
    });
    if (removes) await this.unitOfWork.scrub();
  }

  private async botAfter(botId: string): Promise<string | undefined> {
    const sql = 'SELECT id FROM bots WHERE id > ? AND deleted_at IS NULL ORDER BY id LIMIT 1';
    return (await this.unitOfWork.get<{ id: string }>(sql, botId))?.id;
  }
}
