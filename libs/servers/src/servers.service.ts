import { Injectable } from '@nestjs/common';
import { Clock, Page, type PageQuery, Random } from '@app/common';
import { type Tx, UnitOfWork } from '@app/database';
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

  /** Registers a guild; a known one is answered as it is, under the given name if there is one. */
  register(botId: string, { guild_id: guildId, name }: RegisterServer): Promise<ServerView> {
    return this.unitOfWork.write(async (tx) => {
      await tx.run(
        `INSERT INTO servers (bot_id, guild_id, id, name, created_at) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (bot_id, guild_id) DO UPDATE SET name = COALESCE(excluded.name, servers.name)`,
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

  /** Whether the guild is registered, which it then stays until the unit ends. */
  async lock(tx: Tx, botId: string, guildId: string): Promise<boolean> {
    const sql = 'SELECT 1 FROM servers WHERE bot_id = ? AND guild_id = ? FOR UPDATE';
    return (await tx.get(sql, botId, guildId)) !== undefined;
  }

  async remove(tx: Tx, botId: string, guildId: string): Promise<void> {
    await tx.manager.delete(Server, { botId, guildId });
  }
}

function view({ id, guildId, name, createdAt }: Server): ServerView {
  return { id, guild_id: guildId, name, created_at: createdAt };
}
