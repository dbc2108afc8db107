import { Inject, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { UnitOfWork } from '@app/database';
import { botByBot, type Job, JobRunner, type Lease } from '@app/jobs';
import { Clock, describeFault } from '@app/kernel';
import { Metrics, NO_METRICS } from '@app/metrics';
import { ServersService } from '@app/servers';
import { ErasureRequests } from './erasure-requests.service';

/** Whether it is due is asked this often. */
const INTERVAL_MS = 15_000;
/** Guilds of one bot in one pass. */
const GUILDS_MAX = 100;

/**
 * Deletes the guilds whose scheduled time has come, within a minute, as `DELETE /servers/{guild_id}` does. What fails, or
 * is left by a process that ends, is gone on with at the next run; it stops no other guild.
 */
@Injectable()
export class GuildDeletion implements Job, OnApplicationBootstrap {
  @Inject(Metrics) private readonly metrics: Metrics = NO_METRICS;
  readonly name = 'guild-deletions';
  readonly everyMs = 2 * INTERVAL_MS;
  private readonly logger = new Logger(GuildDeletion.name);

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly jobs: JobRunner,
    private readonly servers: ServersService,
    private readonly gdpr: ErasureRequests,
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

  run(lease: Lease, stopping: AbortSignal): Promise<void> {
    const erase = async (botId: string): Promise<void> => {
      for (const guildId of await this.guildsDue(botId)) {
        if (stopping.aborted) return;
        await this.erase(lease, botId, guildId, stopping).catch((error: unknown) =>
          this.logger.error(
            `A guild of bot ${botId} whose time has come could not be deleted; it is tried again at the next run`,
            { botId, ...describeFault(error) },
          ),
        );
      }
    };
    return lease.keep(() => botByBot((after) => this.botAfter(after), erase, stopping, this.logger));
  }

  private async erase(lease: Lease, botId: string, guildId: string, stopping: AbortSignal): Promise<void> {
    if (!(await lease.batch((tx) => this.servers.beginDeletion(tx, botId, guildId)))) return;
    const { deleted } = await this.gdpr.eraseGuild(botId, guildId, stopping);
    if (deleted) this.metrics.count('retention', 'guild_left');
  }

  private async guildsDue(botId: string): Promise<string[]> {
    const due = await this.unitOfWork.read((tx) =>
      tx.all<{ guild_id: string }>(
        `SELECT guild_id FROM servers WHERE bot_id = ? AND deletion_scheduled_for <= ?
         ORDER BY deletion_scheduled_for LIMIT ${GUILDS_MAX}`,
        ...[botId, this.clock.nowIso()],
      ),
    );
    return due.map(({ guild_id: guildId }) => guildId);
  }

  private async botAfter(botId: string): Promise<string | undefined> {
    const row = await this.unitOfWork.get<{ bot_id: string }>(
      'SELECT bot_id FROM servers WHERE bot_id > ? AND deletion_scheduled_for IS NOT NULL ORDER BY bot_id LIMIT 1',
      botId,
    );
    return row?.bot_id;
  }
}
