import { Injectable } from '@nestjs/common';
import { type Tx, UnitOfWork } from '@app/database';
import { Page, type PageQuery } from '@app/http';
import { Clock, conflict, notFound, Random } from '@app/kernel';
import { Server } from './server.entity';
import type { RegisterServer, ServersView, ServerView } from './servers.dto';

/** The guilds of a bot. */
@Injectable()
export class ServersService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /**
   * Registers a guild. A repeat answers the registered guild, renamed if a name is given, and cancels a scheduled deletion
   * that has not begun.
   */
  register(botId: string, { guild_id: guildId, name }: RegisterServer): Promise<ServerView> {
    return this.unitOfWork.write(async (tx) => {
      await tx.run(
        `INSERT INTO servers (bot_id, guild_id, id, name, created_at) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (bot_id, guild_id) DO UPDATE SET name = COALESCE(excluded.name, servers.name),
           deletion_scheduled_for = CASE WHEN servers.deletion_began_at IS NULL THEN NULL ELSE servers.deletion_scheduled_for END`,
        botId,
        guildId,
        this.random.uuid(),
        name ?? null,
        this.clock.nowIso(),
      );
      return view(await tx.manager.findOneByOrFail(Server, { botId, guildId }));
    });
  }

  list(botId: string, query: PageQuery): Promise<ServersView> {
    const page = new Page(query);
    return this.unitOfWork.read(async (tx) => {
      const [servers, total] = await tx.manager.findAndCount(Server, {
        where: { botId },
        order: { id: 'ASC' },
        skip: page.offset,
        take: page.size,
      });
      return { servers: servers.map(view), pagination: page.of(total) };
    });
  }

  /** Whether the guild is registered; a registered guild is locked until the unit ends. */
  async lock(tx: Tx, botId: string, guildId: string): Promise<boolean> {
    const sql = 'SELECT 1 FROM servers WHERE bot_id = ? AND guild_id = ? FOR UPDATE';
    return (await tx.get(sql, botId, guildId)) !== undefined;
  }

  /**
   * Schedules the deletion of a guild. A new time replaces an earlier one.
   * @throws ApiError 404 for a guild that is not registered; 409 `deletion_in_progress` once that has begun.
   */
  scheduleDeletion(botId: string, guildId: string, scheduledFor: string): Promise<ServerView> {
    return this.reschedule(botId, guildId, () => scheduledFor);
  }

  /**
   * Cancels a scheduled deletion. Once this resolves, that deletion erases nothing.
   * @throws ApiError 404 for a guild that is not registered; 409 `nothing_scheduled`, or `deletion_in_progress` once it has begun.
   */
  cancelDeletion(botId: string, guildId: string): Promise<ServerView> {
    return this.reschedule(botId, guildId, ({ deletionScheduledFor }) => {
      if (deletionScheduledFor === null)
        throw conflict('nothing_scheduled', 'No deletion of this server is scheduled');
      return null;
    });
  }

  /** Begins a scheduled deletion that is due, which then cannot be cancelled; false without one. */
  async beginDeletion(tx: Tx, botId: string, guildId: string): Promise<boolean> {
    const now = this.clock.nowIso();
    const begun = await tx.run(
      `UPDATE servers SET deletion_began_at = COALESCE(deletion_began_at, ?)
       WHERE bot_id = ? AND guild_id = ? AND deletion_scheduled_for <= ?`,
      ...[now, botId, guildId, now],
    );
    return begun > 0;
  }

  private reschedule(
    botId: string,
    guildId: string,
    next: (server: Server) => string | null,
  ): Promise<ServerView> {
    return this.unitOfWork.write(async (tx) => {
      await this.lock(tx, botId, guildId);
      const server = await tx.manager.findOneBy(Server, { botId, guildId });
      if (server === null) throw notFound('Server');
      if (server.deletionBeganAt !== null)
        throw conflict('deletion_in_progress', 'The server is being deleted: its users are erased already');
      const deletionScheduledFor = next(server);
      await tx.manager.update(Server, { botId, guildId }, { deletionScheduledFor });
      return view({ ...server, deletionScheduledFor });
    });
  }

  async remove(tx: Tx, botId: string, guildId: string): Promise<void> {
    await tx.manager.delete(Server, { botId, guildId });
  }
}

function view({ id, guildId, name, createdAt, deletionScheduledFor }: Server): ServerView {
  return { id, guild_id: guildId, name, created_at: createdAt, deletion_scheduled_for: deletionScheduledFor };
}
