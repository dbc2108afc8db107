import { Injectable } from '@nestjs/common';
import { ApiError, notFound } from '@app/common';
import { ServersService } from '@app/servers';
import { type Subject, SubjectDataHolders, UnitOfWork } from '@app/database';
import { DeletionRequest } from './deletion-request.entity';
import { ErasureService } from './erasure.service';
import type { DeletionRequestView, ForgottenView, GuildErasedView } from './gdpr.dto';

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
   * Erases everyone of a guild, each as an erasure of its own with its webhook, then the guild's registration. After a
   * crash half-way the guild is still registered and the call can be repeated.
   */
  async eraseGuild(botId: string, guildId: string): Promise<GuildErasedView> {
    const userIds = await this.usersOf(botId, guildId);
    for (const userId of userIds) await this.eraseUnlessUnderWay({ botId, guildId, userId });
    await this.unitOfWork.write((tx) => this.servers.remove(tx, botId, guildId));
    await this.unitOfWork.scrub();
    return { guild_id: guildId, deleted: true, erased_users: userIds.length };
  }

  private usersOf(botId: string, guildId: string): Promise<string[]> {
    return this.unitOfWork.read(async (tx) => {
      if (!(await this.servers.exists(tx, botId, guildId))) throw notFound('Server');
      const userIds = new Set<string>();
      for (const holder of this.holders.all()) {
        for (const userId of (await holder.subjectsOf?.(tx, botId, guildId)) ?? []) userIds.add(userId);
      }
      return [...userIds];
    });
  }

  private async eraseUnlessUnderWay(subject: Subject): Promise<void> {
    try {
      await this.erasures.erase(subject);
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'conflict')) throw error;
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
