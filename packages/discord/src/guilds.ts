import { type Lethe, NotFoundError } from '@lethe/sdk';
import { DIRECT_MESSAGES } from './scope';

const GRACE_DAYS = 7;
const PAGE = 200;
/** A bot in many guilds waits for the limiter of the service, which begins anew each minute. */
const PATIENT = { timeoutMs: 150_000 };
/** Less than half of the smallest limit, 30 requests a minute: the rest is for the members who use the bot meanwhile. @internal */
export const GUILDS_A_MINUTE = 12;
/** @internal */
export const MINUTE_MS = 60_000;
/** No id of Discord is greater: it refuses to be asked about one. */
const ID_MAX = 2n ** 63n - 1n;

export interface GuildOptions {
  readonly lethe: Lethe;
  /** How long the data of a guild is kept after the bot has left it, 0 to 90 days; 7 by default. */
  readonly graceDays?: number;
  /** @internal Runs after so many ms, and answers what cancels it. */
  readonly later?: (ms: number, run: () => void) => () => void;
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
  try {
    await lethe.servers.delete({ guild_id: guildId, grace_days: graceDays }, PATIENT);
  } catch (error) {
    // Neither registered nor with users: nothing is left to erase.
    if (!(error instanceof NotFoundError)) throw error;
  }
}

export interface Reconciled {
  readonly joined: readonly string[];
  readonly left: readonly string[];
}

/** Reads a path of Discord's REST interface with the token of the bot. */
export type Get = (path: string) => Promise<unknown>;

/**
 * Finds what happened while the bot did not run. `get` reads Discord's REST interface with the token of the bot, which
 * lists the guilds of all shards, and is asked again before each act. Twelve guilds a minute are scheduled or registered,
 * so that members can use the bot meanwhile. @throws Error where the token is that of another bot; nothing is scheduled then
 */
export function reconcileGuilds(options: GuildOptions, get: Get): Promise<Reconciled> {
  return compareGuilds(options, get, async (_, act) => {
    await act();
    return true;
  });
}

/**
 * As `reconcileGuilds`. @internal `unlessChanged` acts for a guild, or answers false where that is no longer right. When
 * `stopping` is aborted, no further act begins, and what is done is answered.
 */
export async function compareGuilds(
  options: GuildOptions,
  get: Get,
  unlessChanged: (guildId: string, act: () => Promise<void>) => Promise<boolean>,
  stopping?: AbortSignal,
): Promise<Reconciled> {
  const found = await differences(options, get);
  const paced = pacer(options, stopping);
  const each = async (guilds: readonly string[], act: typeof guildLeft, isIn: boolean): Promise<string[]> => {
    const done: string[] = [];
    for (const guild of guilds) {
      await paced();
      if (stopping?.aborted === true) break;
      // The lists are minutes old, and another process of the bot can have carried out an event since.
      if ((await isListed(get, guild)) !== isIn) continue;
      if (await unlessChanged(guild, () => act(options, guild))) done.push(guild);
    }
    return done;
  };
  const left = await each(found.left, guildLeft, false);
  return { left, joined: await each(found.joined, guildJoined, true) };
}

/** The key of Lethe and the token of Discord are of different bots: an act would be on the data of another bot. @internal */
export class OtherBotError extends Error {}

/** @throws OtherBotError */
async function requireSameBot({ lethe }: GuildOptions, get: Get): Promise<void> {
  const [{ platform_bot_id: ofKey }, id] = await Promise.all([
    lethe.bots.me({}, PATIENT),
    idOf(get, '/users/@me'),
  ]);
  // The application of a bot of 2016 or before has another id than its user.
  if (ofKey !== id && ofKey !== (await idOf(get, '/oauth2/applications/@me')))
    throw new OtherBotError(`The key of Lethe is that of bot ${ofKey}, the token that of bot ${id}.`);
}

/** Resolves if key and token are of one bot: asked for each token until an answer says so. @internal */
export function sameBot(options: GuildOptions): (get: Get) => Promise<void> {
  const known = new WeakMap<Get, Promise<void>>();
  return (get) => {
    const asked = known.get(get) ?? requireSameBot(options, get);
    known.set(get, asked);
    return asked.catch((error: unknown) => {
      known.delete(get);
      throw error;
    });
  };
}

async function differences(options: GuildOptions, get: Get): Promise<Reconciled> {
  await requireSameBot(options, get);
  const { lethe } = options;
  // Before the guilds: one that the bot joins meanwhile is not known as registered, and so not taken for one it has left.
  const servers = await lethe.servers.list({}, PATIENT).toArray();
  const guilds = await guildIds(get);
  const known = new Map(servers.map((server) => [server.guild_id, server.deletion_scheduled_for !== null]));
  const joined = [...guilds].filter((guild) => known.get(guild) !== false);
  const left = servers
    .filter((server) => !guilds.has(server.guild_id) && server.guild_id !== DIRECT_MESSAGES)
    .filter((server) => server.deletion_scheduled_for === null)
    .map((server) => server.guild_id);
  return { joined, left };
}

async function idOf(get: Get, path: string): Promise<string> {
  return ((await get(path)) as { id: string }).id;
}

/** Waits a minute after so many guilds, or until `stopping` is aborted. */
function pacer({ later = setLater }: GuildOptions, stopping?: AbortSignal): () => Promise<void> {
  let count = 0;
  return async () => {
    if (count > 0 && count % GUILDS_A_MINUTE === 0 && stopping?.aborted !== true)
      await new Promise<void>((resolve) => {
        let cancel = (): void => undefined;
        const ended = (): void => {
          stopping?.removeEventListener('abort', ended);
          cancel();
          resolve();
        };
        stopping?.addEventListener('abort', ended);
        cancel = later(MINUTE_MS, ended);
      });
    count++;
  };
}

const setLater = (ms: number, run: () => void): (() => void) => {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
};

/** Whether the bot is in a guild now. Discord lists the guilds by their ids. @internal */
export async function isListed(get: Get, guildId: string): Promise<boolean> {
  const id = BigInt(guildId);
  if (id < 1n || id > ID_MAX) return false;
  const [next] = (await get(`/users/@me/guilds?limit=1&after=${id - 1n}`)) as { id: string }[];
  return next?.id === guildId;
}

async function guildIds(get: Get): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let after = '0'; ;) {
    const page = (await get(`/users/@me/guilds?limit=${PAGE}&after=${after}`)) as { id: string }[];
    for (const { id } of page) ids.add(id);
    const last = page.at(-1)?.id;
    if (last === undefined || page.length < PAGE) return ids;
    after = last;
  }
}
