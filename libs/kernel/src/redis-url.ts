/** A host with its port. */
export interface RedisHost {
  readonly host: string;
  readonly port: number;
}

/** Where `REDIS_URL` leads: to one server, to the sentinels that know the present primary, or into a cluster. */
export interface RedisPlace {
  readonly kind: 'server' | 'sentinel' | 'cluster';
  readonly tls: boolean;
  readonly hosts: readonly RedisHost[];
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly database: number;
  /** The name under which the sentinels know the primary. */
  readonly master: string;
  readonly sentinelUsername: string | undefined;
  readonly sentinelPassword: string | undefined;
}

type Kind = RedisPlace['kind'];

const FORMS: Readonly<Record<Kind, string>> = {
  server: 'redis://USER:PASSWORD@HOST:PORT/NUMBER',
  sentinel: 'redis+sentinel://USER:PASSWORD@HOST:PORT,HOST:PORT/MASTER/NUMBER?sentinel_password=PASSWORD',
  cluster: 'redis+cluster://USER:PASSWORD@HOST:PORT,HOST:PORT',
};
const ALL_FORMS = `${Object.values(FORMS).join(', ')}, rediss for TLS, or empty`;

const PARTS = /^(rediss?)(?:\+(sentinel|cluster))?:\/\/(?:([^/?#]*)@)?([^/?#@]+)(\/[^?#]*)?(?:\?([^#]*))?$/;
/** What follows the hosts. The names that Sentinel accepts. */
const PATHS: Readonly<Record<Kind, RegExp>> = {
  server: /^(?<master>)(?:\/(?<database>\d{0,5}))?$/,
  sentinel: /^\/(?<master>[A-Za-z0-9._-]+)(?:\/(?<database>\d{0,5}))?$/,
  cluster: /^(?<master>)\/?$/,
};
const PORTS: Readonly<Record<Kind, number>> = { server: 6379, sentinel: 26_379, cluster: 6379 };
const QUERY = new Set(['sentinel_username', 'sentinel_password']);

/** The place of a `REDIS_URL`; undefined where it is empty. The error names the right form and never holds the password. */
export function redisUrl(text: string): RedisPlace | undefined {
  if (text === '') return undefined;
  const [, scheme, form = 'server', credentials = '', hosts = '', path = '', query = ''] =
    PARTS.exec(text) ?? [];
  const kind = form as Kind;
  if (scheme === undefined) throw new Error(ALL_FORMS);
  const place = placeOf(kind, hosts, path);
  const [username, password] = credentialsOf(credentials);
  const sentinel = queryOf(query);
  const isWrong =
    place === undefined || username === null || password === null || (query !== '' && kind !== 'sentinel');
  if (isWrong || sentinel === undefined) throw new Error(kind === 'server' ? ALL_FORMS : FORMS[kind]);
  return { kind, tls: scheme === 'rediss', username, password, ...place, ...sentinel };
}

function placeOf(
  kind: Kind,
  list: string,
  path: string,
): Pick<RedisPlace, 'hosts' | 'master' | 'database'> | undefined {
  const found = PATHS[kind].exec(path)?.groups;
  const hosts = list.split(',').map((text) => hostOf(text, PORTS[kind]));
  if (found === undefined || !hosts.every((host) => host !== undefined)) return undefined;
  if (kind === 'server' && hosts.length > 1) return undefined;
  return { hosts, master: found['master'] ?? '', database: Number(found['database'] ?? 0) };
}

function hostOf(text: string, usual: number): RedisHost | undefined {
  const url = `redis://${text}`;
  if (!URL.canParse(url)) return undefined;
  const { hostname, port } = new URL(url);
  if (hostname === '' || /[\s%]/.test(hostname) || port === '0') return undefined;
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? usual : Number(port) };
}

/** Name and password, undefined where they are left out, null where they cannot be decoded. */
function credentialsOf(text: string): (string | undefined | null)[] {
  const [, name = '', password = ''] = /^([^:]*)(?::(.*))?$/s.exec(text) ?? [];
  return [name, password].map((part) => {
    try {
      return decodeURIComponent(part) || undefined;
    } catch {
      return null;
    }
  });
}

function queryOf(text: string): Pick<RedisPlace, 'sentinelUsername' | 'sentinelPassword'> | undefined {
  const query = new URLSearchParams(text);
  if ([...query.keys()].some((name) => !QUERY.has(name))) return undefined;
  return {
    sentinelUsername: query.get('sentinel_username') ?? undefined,
    sentinelPassword: query.get('sentinel_password') ?? undefined,
  };
}

/** A place as it may be shown: without names and passwords. */
export function shownPlace({ kind, hosts, master }: RedisPlace): string {
  const list = hosts.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`).join(', ');
  if (kind === 'sentinel') return `Redis, the primary ${master} of the sentinels ${list}`;
  return kind === 'cluster' ? `the Redis Cluster of ${list}` : `Redis, ${list}`;
}
