import { Injectable } from '@nestjs/common';
import { asPartlyDone, type Tx, UnitOfWork } from '@app/database';
import { Clock, daysAfter, notFound } from '@app/kernel';
import { HeldSubjects, SubjectDigests } from '@app/crypto';
import type { Digest } from '@app/primitives';
import { ServersService } from '@app/servers';
import type { SubjectIds } from '@app/subjects';
import { DeletionRequest } from './deletion-request.entity';
import { ErasedSubject } from './erased-subject';
import type { DeletionRequestView, GuildErasedView } from './erasure.dto';
import { ErasureService } from './erasure.service';

/** Users of a guild erased concurrently: they share commits. */
const AT_ONCE = 32;
/** Users of a guild read at once. */
const USERS_MAX = 1_000;

/** Reads erasure requests, and erases the users of a whole guild. */
@Injectable()
export class ErasureRequests {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly erasures: ErasureService,
    private readonly held: HeldSubjects,
    private readonly digests: SubjectDigests,
    private readonly servers: ServersService,
    private readonly erased: ErasedSubject,
    private readonly clock: Clock,
  ) {}

  /** @throws ApiError 404 for an unknown request and for that of another bot */
  async deletion(botId: string, id: string): Promise<DeletionRequestView> {
    const found = await this.unitOfWork.read((tx) =>
      tx.manager.findOneBy(DeletionRequest, { botId, id: id.toLowerCase() }),
    );
    if (found === null) throw notFound('Deletion request');
    return deletionView(found, this.erased.idsOf(found));
  }

  /**
   * {@link eraseGuild} at once, or after `graceDays` days in which the deletion can be cancelled: an outage of the
   * platform looks as if the bot had left.
   * @throws ApiError as {@link eraseGuild} and `ServersService.scheduleDeletion`
   */
  async deleteGuild(botId: string, guildId: string, graceDays: number): Promise<GuildErasedView> {
    if (graceDays === 0)
      return { guild_id: guildId, ...(await this.eraseGuild(botId, this.digests.guild(botId, guildId))) };
    const scheduledFor = daysAfter(this.clock.nowIso(), graceDays);
    await this.servers.scheduleDeletion(botId, guildId, scheduledFor);
    return { guild_id: guildId, deleted: false, erased_users: 0, scheduled_for: scheduledFor };
  }

  /**
   * Erases every user of a guild, each as an erasure of its own with its webhook, and removes the registration of the
   * guild when no user is left. After a crash the guild is still registered and the call can be repeated. When `stopping`
   * is aborted, the erasures under way are finished and the guild stays.
   * @throws ApiError 409 `deletion_in_progress` for a user whose erasure in another guild does not end.
   */
  async eraseGuild(
    botId: string,
    guildId: Digest,
    stopping?: AbortSignal,
  ): Promise<Pick<GuildErasedView, 'deleted' | 'erased_users'>> {
    let erasedUsers = 0;
    for (let left = await this.users(botId, guildId); left.length > 0;) {
      for (let at = 0; at < left.length; at += AT_ONCE) {
        if (stopping?.aborted === true) return { deleted: false, erased_users: erasedUsers };
        const some = left.slice(at, at + AT_ONCE);
        const ended = await Promise.allSettled(
          some.map((userId) => this.erasures.eraseInTurn({ botId, guildId, userId })),
        );
        erasedUsers += ended.filter((end) => end.status === 'fulfilled' && end.value !== undefined).length;
        const failed = ended.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined;
        if (failed !== undefined) throw erasedUsers > 0 ? asPartlyDone(failed.reason) : failed.reason;
      }
      left = await this.usersLeft(botId, guildId, erasedUsers > 0);
    }
    return { deleted: true, erased_users: erasedUsers };
  }

  /** @throws ApiError 404 for a guild that is not registered. */
  private async users(botId: string, guildId: Digest): Promise<Digest[]> {
    const found = await this.unitOfWork.write((tx) => this.named(tx, botId, guildId));
    if (found === undefined) throw notFound('Server');
    return found;
  }

  /** None when another request has removed the guild meanwhile. */
  private async usersLeft(botId: string, guildId: Digest, anyErased: boolean): Promise<Digest[]> {
    try {
      return (await this.unitOfWork.write((tx) => this.named(tx, botId, guildId))) ?? [];
    } catch (error) {
      throw anyErased ? asPartlyDone(error) : error;
    }
  }

  /**
   * Some of the users that are left; undefined for a guild that is not registered. Without a user the registration is
   * removed in the same unit.
   */
  private async named(tx: Tx, botId: string, guildId: Digest): Promise<Digest[] | undefined> {
    if (!(await this.servers.lock(tx, botId, guildId))) return undefined;
    const userIds = await this.held.usersOf(tx, botId, guildId, USERS_MAX);
    if (userIds.length === 0) await this.servers.remove(tx, botId, guildId);
    return userIds;
  }
}

export function deletionView(
  request: DeletionRequest,
  { user_id, guild_id }: SubjectIds,
): DeletionRequestView {
  return {
    request_id: request.id,
    status: request.status,
    user_id,
    guild_id,
    created_at: request.createdAt,
    completed_at: request.completedAt,
    unrecoverable_at: request.unrecoverableAt,
    deleted_categories: request.status === 'completed' ? request.deletedCategories : null,
    webhook_sent: request.webhookSent === 1,
  };
}
