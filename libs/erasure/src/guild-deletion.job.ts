import { Inject, Injectable, Logger } from '@nestjs/common';
import { UnitOfWork } from '@app/database';
import { type Batches, type BotSweep, PeriodicJob } from '@app/jobs';
import { Clock, describeFault } from '@app/kernel';
import { Metrics, NO_METRICS } from '@app/metrics';
import { guildsDue, nextBotWithDeletions, ServersService } from '@app/servers';
import { ErasureRequests } from './erasure-requests.service';

/** Guilds of one bot in one run. */
const GUILDS_MAX = 100;

/**
 * Deletes guilds within a minute after their scheduled time, as `DELETE /servers/{guild_id}` does. A guild that fails, or
 * is interrupted by the end of the process, is continued at the next run; other guilds are not affected.
 */
@PeriodicJob({ lookEveryMs: 15_000 })
@Injectable()
export class GuildDeletion implements BotSweep {
  @Inject(Metrics) private readonly metrics: Metrics = NO_METRICS;
  readonly name = 'guild-deletions';
  readonly everyMs = 30_000;
  private readonly logger = new Logger(GuildDeletion.name);

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly servers: ServersService,
    private readonly gdpr: ErasureRequests,
    private readonly clock: Clock,
  ) {}

  nextBot(after: string): Promise<string | undefined> {
    return nextBotWithDeletions(this.unitOfWork, after);
  }

  async *batches(botId: string, stopping: AbortSignal): Batches {
    for (const guildId of await guildsDue(this.unitOfWork, botId, this.clock.confirmedIso(), GUILDS_MAX)) {
      if (stopping.aborted) return;
      try {
        const begun = yield async (tx) => Number(await this.servers.beginDeletion(tx, botId, guildId));
        if (begun === 0) continue;
        const { deleted } = await this.gdpr.eraseGuild(botId, guildId, stopping);
        if (deleted) this.metrics.count('retention', 'guild_left');
      } catch (error) {
        this.logger.error(
          `The scheduled deletion of a guild of bot ${botId} failed and is tried again at the next run`,
          { botId, ...describeFault(error) },
        );
      }
    }
  }
}
