import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { ApiError, notFound } from '@app/common';
import { ServersService } from '@app/servers';
import { type Subject, SubjectDataHolders, type Tx, UnitOfWork } from '@app/database';
import { DeletionRequest } from './deletion-request.entity';
import { ErasureService } from './erasure.service';
import type { DeletionRequestView, ForgottenView, GuildErasedView } from './gdpr.dto';

/** How often, and after which pause, an erasure is tried again while the same user is erased in another guild. */
const TRIES_MAX = 100;
const PAUSE_MS = 20;
/** Users of a guild who are erased beside each other: they share commits. */
const AT_ONCE = 32;

const NOTICE =
  'Only data stored through this service was erased. Messages and other data on the platform, and what the bot keeps elsewhere, are not affected.';

/** Erasures, asked for one user or for a whole guild, and their evidence. */
@Injectable()
export class GdprService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly erasures: ErasureService,
    private readonly holders: SubjectDataHolders,
    private readonly servers: ServersService,
  ) {}

  async forget(subject: Subject): Promise<ForgottenView> {
    const { id, status, deletedCategories, completedAt } = await this.erasures.erase(subject);
    return {
      request_id: id,
      status,
      deleted_categories: deletedCategories,
      completed_at: completedAt,
      notice: NOTICE,
    };
  }

  /** @throws ApiError 404 for another bot's request as for none. */
  async deletion(botId: string, id: string): Promise<DeletionRequestView> {
    const found = await this.unitOfWork.read((tx) =>
      tx.manager.findOneBy(DeletionRequest, { botId, id: id.toLowerCase() }),
    );
    if (found === null) throw notFound('Deletion request');
    return deletionView(found);
  }

  /**
   * Erases everyone of a guild, each as an erasure of its own with its webhook, until nobody is left; only then goes
   * the guild's registration. After a crash half-way the guild is still registered and the call can be repeated.
   * @throws ApiError 409 `deletion_in_progress` for a user whose erasure in another guild does not end.
   */
  async eraseGuild(botId: string, guildId: string): Promise<GuildErasedView> {
    let erasedUsers = 0;
    for (;;) {
      const userIds = await this.unitOfWork.write((tx) => this.usersLeft(tx, botId, guildId));
      if (userIds.length === 0) break;
      for (let at = 0; at < userIds.length; at += AT_ONCE) {
        const some = userIds.slice(at, at + AT_ONCE);
        await Promise.all(some.map((userId) => this.eraseInTurn({ botId, guildId, userId })));
      }
      erasedUsers += userIds.length;
    }
    await this.unitOfWork.scrub();
    return { guild_id: guildId, deleted: true, erased_users: erasedUsers };
  }

  /** Some of the users that are left; where there is none the registration goes in the same unit. */
  private async usersLeft(tx: Tx, botId: string, guildId: string): Promise<string[]> {
    if (!(await this.servers.exists(tx, botId, guildId))) throw notFound('Server');
    const userIds = new Set<string>();
    for (const holder of this.holders.all()) {
      for (const userId of (await holder.subjectsOf?.(tx, botId, guildId)) ?? []) userIds.add(userId);
    }
    if (userIds.size === 0) await this.servers.remove(tx, botId, guildId);
    return [...userIds];
  }

  /** One user is erased in one guild at a time: an erasure elsewhere is waited for. */
  private async eraseInTurn(subject: Subject): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await this.erasures.erase(subject);
        return;
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 'conflict') || tries === TRIES_MAX) throw error;
        await pause(PAUSE_MS);
      }
    }
  }
}

export function deletionView(request: DeletionRequest): DeletionRequestView {
  return {
    request_id: request.id,
    status: request.status,
    user_id: request.userId,
    guild_id: request.guildId,
    created_at: request.createdAt,
    completed_at: request.completedAt,
    deleted_categories: request.deletedCategories,
    webhook_sent: request.webhookSent === 1,
  };
}
