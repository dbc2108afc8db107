import { Inject, Injectable, Logger } from '@nestjs/common';
import { type Digest, HeldSubjects, type Subject, SubjectDataHolders, SubjectDigests } from '@app/crypto';
import { asPartlyDone, type Batches, type BotSweep, PeriodicJob, UnitOfWork } from '@app/database';
import { type Acting, type Actor, JOB } from '@app/http';
import { Clock, daysAfter, describeFault, Metrics, NO_METRICS, notFound } from '@app/kernel';
import { BOTS_WITH_DELETIONS, guildsDue, ServersService } from '@app/servers';
import type { GuildErasedView } from './erasure.dto';
import { ErasureService, isOnRecord } from './erasure.service';

/** Users of a guild erased concurrently: they share commits. */
const AT_ONCE = 32;
/** Users of a guild read at once. */
const USERS_MAX = 1_000;
/** Guilds of one bot in one run of the job. */
const GUILDS_MAX = 100;

/** Erases the users of a whole guild. */
@Injectable()
export class GuildErasure {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly erasures: ErasureService,
    private readonly held: HeldSubjects,
    private readonly digests: SubjectDigests,
    private readonly servers: ServersService,
    private readonly holders: SubjectDataHolders,
    private readonly clock: Clock,
  ) {}

  /**
   * Erases every user of a guild, each as an erasure of its own with its webhook, and removes the registration of the
   * guild when no user is left; at once, or after `graceDays` days in which the deletion can be cancelled: an outage of the
   * platform looks as if the bot had left. After a crash the guild is still registered and the call can be repeated.
   * @throws ApiError 404 for a guild that is neither registered nor has users; 409 `deletion_in_progress` for a user whose
   * erasure in another guild does not end; as `ServersService.scheduleDeletion`
   */
  async deleteGuild({ botId, actor }: Acting, guildId: string, graceDays: number): Promise<GuildErasedView> {
    const guild = this.digests.guild(botId, guildId);
    await this.registerHeld(botId, guild, guildId);
    if (graceDays > 0) {
      const scheduledFor = daysAfter(this.clock.nowIso(), graceDays);
      await this.servers.scheduleDeletion(botId, guildId, scheduledFor);
      return { guild_id: guildId, deleted: false, erased_users: 0, scheduled_for: scheduledFor };
    }
    let erasedUsers = 0;
    try {
      for await (const erased of this.inParts(botId, guild, actor)) erasedUsers += erased;
    } catch (error) {
      // The erasure of one user that is on record ends without the caller; the guild and its other users are left.
      throw erasedUsers > 0 || isOnRecord(error) ? asPartlyDone(error) : error;
    }
    return { guild_id: guildId, deleted: true, erased_users: erasedUsers };
  }

  /** {@link deleteGuild} at once, in parts of a few users; the number of erased ones after each. The guild stays where they are not all done. */
  async *inParts(botId: string, guildId: Digest, by: Actor): AsyncGenerator<number, void> {
    let left = await this.usersLeft(botId, guildId);
    if (left === undefined) throw notFound('Server');
    // Undefined from the second reading on: another request has removed the guild meanwhile.
    for (; left !== undefined && left.length > 0; left = await this.usersLeft(botId, guildId)) {
      for (let at = 0; at < left.length; at += AT_ONCE) {
        const ended = await Promise.allSettled(
          left.slice(at, at + AT_ONCE).map((subject) => this.erasures.eraseInTurn(subject, by)),
        );
        yield ended.filter((end) => end.status === 'fulfilled' && end.value !== undefined).length;
        const failed = ended.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
        if (failed.length > 0) throw failed.find(isOnRecord) ?? failed[0];
      }
    }
  }

  /** Registers a guild that was never registered and has users, so that its deletion also continues after a crash. */
  private registerHeld(botId: string, guild: Digest, guildId: string): Promise<void> {
    return this.unitOfWork.write(async (tx) => {
      if (await this.servers.lock(tx, botId, guild)) return;
      const users = await this.held.walk(tx, { botId, guildId: guild }, undefined, 1);
      if (users.length > 0) await this.servers.create(tx, botId, guild, { guild_id: guildId, name: null });
    });
  }

  /**
   * Some of the users that are left; undefined for a guild that is not registered. Without a user the registration is
   * removed in the same unit.
   */
  private usersLeft(botId: string, guildId: Digest): Promise<Subject[] | undefined> {
    return this.unitOfWork.write(async (tx) => {
      if (!(await this.servers.lock(tx, botId, guildId))) return undefined;
      const users = await this.held.walk(tx, { botId, guildId }, undefined, USERS_MAX);
      if (users.length > 0) return users;
      await this.holders.eraseUnheld(tx, { botId, guildId });
      await this.servers.remove(tx, botId, guildId);
      return users;
    });
  }
}

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
  readonly bots = BOTS_WITH_DELETIONS;
  private readonly logger = new Logger(GuildDeletion.name);

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly servers: ServersService,
    private readonly guilds: GuildErasure,
    private readonly clock: Clock,
  ) {}

  async *batches(botId: string, stopping: AbortSignal): Batches {
    for (const guildId of await guildsDue(this.unitOfWork, botId, this.clock.confirmedIso(), GUILDS_MAX)) {
      if (stopping.aborted) return;
      try {
        const parts = this.guilds.inParts(botId, guildId, JOB);
        // A guild can have millions of users, and other bots have their turn in between: it may be registered anew since the last part.
        while ((yield async (tx) => Number(await this.servers.beginDeletion(tx, botId, guildId))) > 0) {
          if ((await parts.next()).done !== true) continue;
          this.metrics.count('retention', 'guild_left');
          break;
        }
      } catch (error) {
        this.logger.error(
          `The scheduled deletion of a guild of bot ${botId} failed and is tried again at the next run`,
          { botId, ...describeFault(error) },
        );
      }
    }
  }
}
