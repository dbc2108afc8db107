import { Injectable, Logger } from '@nestjs/common';
import { Cursors, type Digest, ERASED_ID, ifReadable, InstallationKeys, SubjectDigests } from '@app/crypto';
import { ConcurrentChange, type Tx, UnitOfWork, withSqliteFile } from '@app/database';
import type { PageQuery } from '@app/http';
import { Acts, type Claim, NO_CLAIM } from '@app/acts';
import { Clock, conflict, notFound, Random } from '@app/kernel';
import { In, MoreThan } from 'typeorm';
import { Server } from './server.entity';
import type { RegisterServer, ServersView, ServerView } from './servers.dto';

/** The encrypted part of a server. */
type Named = Pick<ServerView, 'guild_id' | 'name'>;

/** The guilds of a bot. */
@Injectable()
export class ServersService {
  private readonly logger = new Logger(ServersService.name);

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly keys: InstallationKeys,
    private readonly digests: SubjectDigests,
    private readonly acts: Acts,
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly cursors: Cursors,
  ) {}

  /**
   * Registers a guild. A repeat returns the registered guild, renamed if a name is given, and cancels a scheduled deletion
   * that has not begun. It mends a damaged one.
   */
  register(botId: string, { guild_id, name }: RegisterServer, claim: Claim): Promise<ServerView> {
    const guildId = this.digests.guild(botId, guild_id);
    const register = async (tx: Tx): Promise<ServerView> => {
      const known = await this.locked(tx, botId, guildId);
      if (known === null) return this.create(tx, botId, guildId, { guild_id, name: name ?? null });
      const isKept = name == null && this.named(known) !== undefined;
      const text = isKept ? known.text : this.encrypted(known, { guild_id, name: name ?? null });
      const deletionScheduledFor = known.deletionBeganAt === null ? null : known.deletionScheduledFor;
      await tx.manager.update(Server, { botId, guildId }, { text, deletionScheduledFor });
      return this.view({ ...known, text, deletionScheduledFor }, guild_id);
    };
    return this.acts.once(claim, register);
  }

  list(botId: string, query: PageQuery): Promise<ServersView> {
    const page = this.cursors.page<[id: string]>(botId, 'servers', query);
    return this.unitOfWork.read(async (tx) => {
      const found = await tx.manager.find(Server, {
        where: { botId, ...(page.after && { id: MoreThan(page.after[0]) }) },
        order: { id: 'ASC' },
        skip: page.offset,
        take: page.limit,
      });
      const servers = page.cut(found, ({ id }) => [id]).map((server) => this.view(server, ERASED_ID));
      const total = await page.total(() => tx.manager.countBy(Server, { botId }));
      return { servers, pagination: page.of(total) };
    });
  }

  /** The names of guilds by their ids, as far as a name is registered and can be decrypted. */
  names(botId: string, guildIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const guildId = In(guildIds.map((id) => this.digests.guild(botId, id)));
    return this.unitOfWork.read(async (tx) => {
      const found = await tx.manager.findBy(Server, { botId, guildId });
      const named = found.flatMap((server) => this.named(server) ?? []);
      return new Map(named.flatMap(({ guild_id: id, name }) => (name === null ? [] : [[id, name]])));
    });
  }

  /** Whether the guild is registered; a registered guild is locked until the unit ends. */
  async lock(tx: Tx, botId: string, guildId: Digest): Promise<boolean> {
    const sql = 'SELECT 1 FROM servers WHERE bot_id = ? AND guild_id = ? FOR UPDATE';
    return (await tx.get(sql, botId, guildId)) !== undefined;
  }

  /**
   * Schedules the deletion of a guild. A new time replaces an earlier one.
   * @throws ApiError 404 for a guild that is not registered; 409 `deletion_in_progress` once that has begun.
   */
  scheduleDeletion(botId: string, guildId: string, scheduledFor: string): Promise<ServerView> {
    return this.reschedule(botId, guildId, NO_CLAIM, () => scheduledFor);
  }

  /**
   * Cancels a scheduled deletion. Once this resolves, that deletion erases nothing.
   * @throws ApiError 404 for a guild that is not registered; 409 `nothing_scheduled`, or `deletion_in_progress` once it has begun.
   */
  cancelDeletion(botId: string, guildId: string, claim: Claim): Promise<ServerView> {
    return this.reschedule(botId, guildId, claim, ({ deletionScheduledFor }) => {
      if (deletionScheduledFor === null)
        throw conflict('nothing_scheduled', 'No deletion of this server is scheduled');
      return null;
    });
  }

  /** Begins a scheduled deletion that is due, which then cannot be cancelled; false without one. */
  async beginDeletion(tx: Tx, botId: string, guildId: Digest): Promise<boolean> {
    const now = this.clock.confirmedIso();
    const begun = await tx.run(
      `UPDATE servers SET deletion_began_at = COALESCE(deletion_began_at, ?)
       WHERE bot_id = ? AND guild_id = ? AND deletion_scheduled_for <= ?`,
      ...[now, botId, guildId, now],
    );
    return begun > 0;
  }

  async remove(tx: Tx, botId: string, guildId: Digest): Promise<void> {
    await tx.manager.delete(Server, { botId, guildId });
  }

  /** Registers a guild that the unit has found unknown. */
  async create(tx: Tx, botId: string, guildId: Digest, named: Named): Promise<ServerView> {
    const [id, createdAt] = [this.random.uuid(), this.clock.nowIso()];
    const text = this.encrypted({ botId, id }, named);
    const inserted = await tx.run(
      'INSERT INTO servers (bot_id, guild_id, id, text, created_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
      ...[botId, guildId, id, text, createdAt],
    );
    if (inserted === 0) throw new ConcurrentChange();
    return { id, ...named, created_at: createdAt, deletion_scheduled_for: null };
  }

  private reschedule(
    botId: string,
    guild: string,
    claim: Claim,
    next: (server: Server) => string | null,
  ): Promise<ServerView> {
    const guildId = this.digests.guild(botId, guild);
    const reschedule = async (tx: Tx): Promise<ServerView> => {
      const server = await this.locked(tx, botId, guildId);
      if (server === null) throw notFound('Server');
      if (server.deletionBeganAt !== null)
        throw conflict('deletion_in_progress', 'The server is being deleted: its users are erased already');
      const deletionScheduledFor = next(server);
      await tx.manager.update(Server, { botId, guildId }, { deletionScheduledFor });
      return this.view({ ...server, deletionScheduledFor }, guild);
    };
    return this.acts.once(claim, reschedule);
  }

  private async locked(tx: Tx, botId: string, guildId: Digest): Promise<Server | null> {
    await this.lock(tx, botId, guildId);
    return tx.manager.findOneBy(Server, { botId, guildId });
  }

  private encrypted(server: Pick<Server, 'botId' | 'id'>, named: Named): string {
    return this.keys.installation.encrypt(JSON.stringify(named), contextOfServer(server));
  }

  /** `known` is the guild of a damaged server, as far as the caller knows it. */
  private view(server: Server, known: string): ServerView {
    const { id, createdAt, deletionScheduledFor } = server;
    const named = this.named(server);
    const { guild_id, name } = named ?? { guild_id: known, name: null };
    return {
      ...{ id, guild_id, name, created_at: createdAt, deletion_scheduled_for: deletionScheduledFor },
      ...(named === undefined && { unreadable: true }),
    };
  }

  /** Undefined for damage, which hides no other server. */
  private named(server: Server): Named | undefined {
    const json = ifReadable(() => this.keys.installation.decrypt(server.text, contextOfServer(server)));
    if (json !== undefined) return JSON.parse(json) as Named;
    this.logger.error(
      `The id and name of the server ${server.id} cannot be decrypted: a registration of its guild mends it`,
    );
    return undefined;
  }
}

function contextOfServer({ botId, id }: Pick<Server, 'botId' | 'id'>): string {
  return `servers/${botId}/${id}`;
}

/** The guilds of a bot whose deletion was due at `nowIso`, the longest overdue first. */
export async function guildsDue(
  unitOfWork: UnitOfWork,
  botId: string,
  nowIso: string,
  limit: number,
): Promise<Digest[]> {
  const due = await unitOfWork.read((tx) =>
    tx.all<{ guild_id: Digest }>(
      `SELECT guild_id FROM servers WHERE bot_id = ? AND deletion_scheduled_for <= ?
       ORDER BY deletion_scheduled_for LIMIT ${limit}`,
      ...[botId, nowIso],
    ),
  );
  return due.map(({ guild_id: guildId }) => guildId);
}

/** The bots of a sweep that have a scheduled deletion of a guild. */
export const BOTS_WITH_DELETIONS = { table: 'servers', where: 'deletion_scheduled_for IS NOT NULL' };

/** How many guilds of a bot have a scheduled deletion, and how many of these were due at `nowIso`. */
export async function countDeletions(
  unitOfWork: UnitOfWork,
  botId: string,
  nowIso: string,
): Promise<{ readonly scheduled: number; readonly due: number }> {
  const row = await unitOfWork.get<{ scheduled: number; due: number | null }>(
    `SELECT COUNT(*) AS scheduled, SUM(CASE WHEN deletion_scheduled_for <= ? THEN 1 ELSE 0 END) AS due
     FROM servers WHERE bot_id = ? AND deletion_scheduled_for IS NOT NULL`,
    ...[nowIso, botId],
  );
  return { scheduled: row?.scheduled ?? 0, due: row?.due ?? 0 };
}

/**
 * Lets the scheduled deletions of guilds in a SQLite file of data wait until this ISO time, except those that have begun; returns
 * their number. No service uses the file.
 */
export function postponeDeletions(path: string, untilIso: string): number {
  const sql =
    'UPDATE servers SET deletion_scheduled_for = ? WHERE deletion_scheduled_for < ? AND deletion_began_at IS NULL';
  return withSqliteFile(path, 'write', (database) => database.prepare(sql).run(untilIso, untilIso).changes);
}
