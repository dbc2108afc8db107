import { literal } from './literal';
import { redisValue } from './redis-values';
import { isLastOf, type Keeps, type Marks, type Store, type Who } from './store';

/** A client of `ioredis`. */
export interface IoRedis {
  call(command: string, args: string[]): Promise<unknown>;
  readonly options?: { readonly keyPrefix?: KeyPrefix };
  readonly isCluster?: boolean;
}

/** A client of `redis` (node-redis). */
export interface NodeRedis {
  sendCommand(args: string[]): Promise<unknown>;
  readonly options?: { readonly keyPrefix?: KeyPrefix };
}

type KeyPrefix = string | Uint8Array;

export interface RedisKeys {
  readonly name: string;
  /**
   * The keys about a user, as `profile:{guild_id}:{user_id}` or `cooldown:{user_id}:*`. Only `*` has a meaning, and needs a
   * walk through all keys. A pattern without `{guild_id}` belongs to the user everywhere.
   */
  readonly keys: string | readonly string[];
  /** The hash with what was erased; `lethe_holder` by default. */
  readonly marks?: string;
  readonly keeps?: Keeps;
}

const PLACE = /\{(user_id|guild_id)\}/g;
/** Beside a place nothing may match a further digit, by which the id of one user would begin that of another. */
const LOOSE = /[\d*}]\{(?:user_id|guild_id)\}|\{(?:user_id|guild_id)\}[\d*]/;
const SCAN_COUNT = '1000';

/**
 * The keys of users in Redis. With a `keyPrefix` of the client the patterns begin behind the prefix.
 * @throws TypeError for no pattern, and for one that could match the keys of another user
 */
export function redis(client: IoRedis | NodeRedis, { name, keys, marks, keeps }: RedisKeys): Store {
  const server = new RedisServerKeys(client);
  const patterns = (typeof keys === 'string' ? [keys] : keys).map(requireUser);
  if (patterns.length === 0) throw new TypeError('keys names no pattern: every user would have nothing.');
  const ofGuilds = patterns.filter((pattern) => pattern.includes('{guild_id}'));
  const everywhere = ofGuilds.length === 0 || (ofGuilds.length < patterns.length && 'partly');
  const found = async (who: Who, isLast = who.isLast !== false): Promise<Set<string>> => {
    const meant = isLast ? patterns : ofGuilds;
    const all = await Promise.all(meant.map((pattern) => server.matching(pattern, who)));
    return new Set(all.flat());
  };
  return {
    name,
    everywhere,
    ...(keeps !== undefined && { keeps }),
    marks: new RedisMarks(server, marks ?? 'lethe_holder'),
    count: async (who) => (await found(who, isLastOf(everywhere, who))).size,
    erase: async (who) => server.delete([...(await found(who, isLastOf(everywhere, who)))]),
    export: async (who, room) => {
      const all = [...(await found(who))].sort();
      const rows: unknown[] = [];
      for (const key of all.slice(0, room.rows)) rows.push(await redisValue(server.send, key, room));
      return { rows: rows.filter((row) => row !== undefined), left_out: Math.max(0, all.length - room.rows) };
    },
  };
}

function requireUser(pattern: string): string {
  if (!pattern.includes('{user_id}'))
    throw new TypeError(`The pattern ${pattern} needs {user_id}, or it matches the keys of all users.`);
  if (LOOSE.test(pattern))
    throw new TypeError(
      `In the pattern ${pattern} an id is beside *, a digit or another id, so that it matches longer ids: put a separator between.`,
    );
  return pattern;
}

const escaped = (text: string, special: RegExp): string => text.replace(special, '\\$&');

/** `*` of SCAN in the place of a guild matches any text, also one with the id of another user. */
function meantBy(pattern: string, who: Who): (key: string) => boolean {
  const every = who.everyGuild === true ? '\\d+' : who.guild_id;
  const texts = pattern.split('*').map((part) => {
    const [head = '', ...rest] = part
      .split('{guild_id}')
      .map((text) => text.replaceAll('{user_id}', who.user_id));
    return literal([head, ...rest], every);
  });
  const wanted = new RegExp(`^${texts.join('.*')}$`, 's');
  return (key) => wanted.test(key);
}

/** A pool of node-redis has no `options`, and the prefix by another name. */
function prefixOf(client: { readonly options?: unknown; readonly _keyPrefix?: unknown }): string {
  const options = client.options as { readonly keyPrefix?: KeyPrefix } | undefined;
  const prefix = (client._keyPrefix as KeyPrefix | undefined) ?? options?.keyPrefix ?? '';
  if (typeof prefix === 'string') return prefix;
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(prefix);
}

/** The commands of either client. A `keyPrefix` is taken from the keys that a walk finds. */
class RedisServerKeys {
  readonly send: (...args: [string, ...string[]]) => Promise<unknown>;
  private readonly prefix: string;

  constructor(client: IoRedis | NodeRedis) {
    if ((client as IoRedis).isCluster === true)
      throw new TypeError(
        'A walk sees the keys of one server: give one store for each master of the cluster.',
      );
    this.prefix = prefixOf(client);
    if (
      typeof (client as NodeRedis).sendCommand === 'function' &&
      typeof (client as IoRedis).call !== 'function'
    )
      // Its `sendCommand` leaves the keys as they are. Only a walk has none.
      this.send = (command, key = '', ...args) =>
        (client as NodeRedis).sendCommand([command, command === 'SCAN' ? key : this.prefix + key, ...args]);
    // Before 5.9.0 it knows the place of a key by small letters alone.
    else this.send = (command, ...args) => (client as IoRedis).call(command.toLowerCase(), args);
  }

  async matching(pattern: string, who: Who): Promise<string[]> {
    const named = pattern.replace(PLACE, (_, place: 'user_id' | 'guild_id') =>
      place === 'guild_id' && who.everyGuild === true ? '*' : who[place],
    );
    if (!named.includes('*')) return Number(await this.send('EXISTS', named)) === 1 ? [named] : [];
    const match = escaped(this.prefix, /[[\]?\\*]/g) + escaped(named, /[[\]?\\]/g);
    const isMeant = meantBy(pattern, who);
    const found: string[] = [];
    for (let cursor = '0'; ;) {
      const [next, keys] = (await this.send('SCAN', cursor, 'MATCH', match, 'COUNT', SCAN_COUNT)) as [
        string,
        string[],
      ];
      found.push(...keys.map((key) => String(key).slice(this.prefix.length)).filter(isMeant));
      cursor = String(next);
      if (cursor === '0') return found;
    }
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.send('DEL', key);
  }
}

/** Notes in one hash. */
class RedisMarks implements Marks {
  constructor(
    private readonly server: RedisServerKeys,
    private readonly key: string,
  ) {}

  async all(list: string): Promise<ReadonlyMap<string, string>> {
    const flat = (await this.server.send('HGETALL', this.key)) as string[] | Record<string, string>;
    const pairs = Array.isArray(flat)
      ? Array.from({ length: flat.length / 2 }, (_, at) => [String(flat[2 * at]), String(flat[2 * at + 1])])
      : Object.entries(flat);
    // The name of a store may begin that of another one, and the name of a note has no space.
    const own = pairs.filter(([name = '']) => name.slice(0, name.lastIndexOf(' ')) === list);
    return new Map(own.map(([name = '', note = '']) => [name.slice(list.length + 1), note]));
  }

  async get(list: string, name: string): Promise<string | undefined> {
    const note = (await this.server.send('HGET', this.key, `${list} ${name}`)) as string | null;
    return note ?? undefined;
  }

  async put(list: string, name: string, note: string): Promise<void> {
    await this.server.send('HSET', this.key, `${list} ${name}`, note);
  }

  async remove(list: string, names: readonly string[]): Promise<void> {
    for (const name of names) await this.server.send('HDEL', this.key, `${list} ${name}`);
  }
}
