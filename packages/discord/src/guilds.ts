import { type Lethe, NotFoundError } from '@lethe/sdk';
import { DIRECT_MESSAGES } from './scope';

const GRACE_DAYS = 7;
const PAGE = 200;
/** A bot in many guilds waits for the limiter of the service, which begins anew each minute. */
const PATIENT = { timeoutMs: 150_000 };

export interface GuildOptions {
  readonly lethe: Lethe;
  /** How long the data of a guild is kept after the bot has left it, 0 to 90 days; 7 by default. */
  readonly graceDays?: number;
}

/** The bot is in a guild: a deletion that was scheduled for it is cancelled. */
export async function guildJoined({ lethe }: GuildOptions, guildId: string): Promise<void> {
  await lethe.servers.register({ guild_id: guildId }, PATIENT);
}

/** The bot has left a guild: the service erases its users after the days of grace, also if the bot does not run then. */
export async function guildLeft(
  { lethe, graceDays = GRACE_DAYS }: GuildOptions,
  guildId: string,
): Promise<void> {
  const given = { guild_id: guildId, grace_days: graceDays };
  try {
    await lethe.servers.delete(given, PATIENT);
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    // Only a registered guild can be deleted, and users can have data in one that is not.
    await lethe.servers.register({ guild_id: guildId }, PATIENT);
    await lethe.servers.delete(given, PATIENT);
  }
}

export interface Reconciled {
  readonly joined: readonly string[];
  readonly left: readonly string[];
}

/**
 * Finds what happened while the bot did not run. `get` reads Discord's REST interface with the token of the bot, which
 * lists the guilds of all shards. @throws Error where the token is that of another bot; nothing is scheduled then
 */
export async function reconcileGuilds(
  options: GuildOptions,
  get: (path: string) => Promise<unknown>,
): Promise<Reconciled> {
  const { lethe } = options;
  const [me, user] = await Promise.all([lethe.bots.me(), get('/users/@me')]);
  const { id } = user as { id: string };
  if (me.platform_bot_id !== id)
    throw new Error(`The key of Lethe is that of bot ${me.platform_bot_id}, the token that of bot ${id}.`);
  // Before the guilds: one that the bot joins meanwhile is not known as registered, and so not taken for one it has left.
  const servers = await lethe.servers.list().toArray();
  const guilds = await guildIds(get);
  const known = new Map(servers.map((server) => [server.guild_id, server.deletion_scheduled_for !== null]));
  const joined = [...guilds].filter((guild) => known.get(guild) !== false);
  const left = servers
    .filter((server) => !guilds.has(server.guild_id) && server.guild_id !== DIRECT_MESSAGES)
    .filter((server) => server.deletion_scheduled_for === null)
    .map((server) => server.guild_id);
  for (const guild of left) await guildLeft(options, guild);
  for (const guild of joined) await guildJoined(options, guild);
  return { joined, left };
}

async function guildIds(get: (path: string) => Promise<unknown>): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let after = '0'; ;) {
    const page = (await get(`/users/@me/guilds?limit=${PAGE}&after=${after}`)) as { id: string }[];
    for (const { id } of page) ids.add(id);
    const last = page.at(-1)?.id;
    if (last === undefined || page.length < PAGE) return ids;
    after = last;
  }
}
