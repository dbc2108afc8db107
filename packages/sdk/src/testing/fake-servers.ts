import type { Tools } from './fake-bot';
import type { Json } from './fake-consent';
import { idOf } from './fake-ids';
import { FakeRefusal, invalid, isText, notFound } from './fake-refusal';

const DAY_MS = 86_400_000;

/** What the servers need of the users of their bot. */
interface Guilds {
  hasUsers(guild: string): boolean;
  /** Answers the number of the erased users. */
  erase(guild: string): Promise<number>;
}

/** The servers of a bot. A scheduled deletion takes place at the first call after its time. */
export class FakeServers {
  private readonly servers = new Map<string, Json>();

  constructor(
    private readonly tools: Pick<Tools, 'newId' | 'nowIso'>,
    private readonly guilds: Guilds,
  ) {}

  get all(): Json[] {
    return [...this.servers.values()];
  }

  register({ guild_id, name }: Json): Json {
    const id = idOf({ guild_id }, 'guild_id');
    if (name !== undefined && !isText(name, 100))
      throw invalid('name', 'must be a text of 1 to 100 characters');
    return this.put(id, { deletion_scheduled_for: null, ...(name !== undefined && { name }) });
  }

  /** At once, or after `grace_days`. @throws FakeRefusal 404 for a guild that is not registered and has no users */
  async delete({ guild_id, grace_days = '0' }: Json): Promise<Json> {
    const id = idOf({ guild_id }, 'guild_id');
    const days = typeof grace_days === 'string' && /^\d{1,2}$/.test(grace_days) ? Number(grace_days) : 91;
    if (days > 90) throw invalid('grace_days', 'must be a whole number from 0 to 90');
    if (!this.servers.has(id) && !this.guilds.hasUsers(id)) throw notFound('Server');
    if (days === 0) return { guild_id: id, deleted: true, erased_users: await this.end(id) };
    const scheduled_for = new Date(Date.parse(this.tools.nowIso()) + days * DAY_MS).toISOString();
    this.put(id, { deletion_scheduled_for: scheduled_for });
    return { guild_id: id, deleted: false, erased_users: 0, scheduled_for };
  }

  /** @throws FakeRefusal 404, and 409 without a scheduled deletion */
  cancelDeletion({ guild_id }: Json): Json {
    const id = idOf({ guild_id }, 'guild_id');
    const server = this.servers.get(id);
    if (server === undefined) throw notFound('Server');
    if (server['deletion_scheduled_for'] === null)
      throw new FakeRefusal('conflict', 'No deletion is scheduled', { reason: 'nothing_scheduled' });
    return this.put(id, { deletion_scheduled_for: null });
  }

  /** Deletes the guilds whose time has come. */
  async endDue(): Promise<void> {
    const now = this.tools.nowIso();
    for (const [id, { deletion_scheduled_for: due }] of this.servers)
      if (typeof due === 'string' && due <= now) await this.end(id);
  }

  private put(id: string, change: Json): Json {
    const { newId, nowIso } = this.tools;
    const made = { id: newId(), guild_id: id, name: null, created_at: nowIso() };
    const server = { ...(this.servers.get(id) ?? made), ...change };
    this.servers.set(id, server);
    return server;
  }

  private async end(id: string): Promise<number> {
    const erased = await this.guilds.erase(id);
    this.servers.delete(id);
    return erased;
  }
}
