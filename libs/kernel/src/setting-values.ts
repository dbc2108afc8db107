// Parsers of settings. Each function returns the value, or throws an Error whose message completes the sentence "NAME
// must be …".

export function integer(min: number, max: number) {
  return (text: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max)
      throw new Error(`a whole number from ${min} to ${max}`);
    return value;
  };
}

/** A number of days; undefined for `off`. */
export function daysOrOff(min: number, max: number) {
  return (text: string): number | undefined => {
    if (text === 'off') return undefined;
    try {
      return integer(min, max)(text);
    } catch (error) {
      throw new Error(`${(error as Error).message}, or off`);
    }
  };
}

export function oneOf<const T extends string>(...values: T[]) {
  return (text: string): T => {
    const found = values.find((value) => value === text);
    if (found === undefined) throw new Error(`one of ${values.join(', ')}`);
    return found;
  };
}

export const boolean = (text: string): boolean => oneOf('true', 'false')(text) === 'true';

/** The database that `DATABASE_URL` names. */
type DatabaseSetting =
  | { readonly engine: 'sqlite'; readonly path: string }
  | { readonly engine: 'postgres'; readonly url: string };

/** `sqlite:PATH` or a PostgreSQL connection URI. */
export function databaseUrl(text: string): DatabaseSetting {
  const path = /^sqlite:(?:\/\/)?(.+)$/.exec(text)?.[1];
  if (path !== undefined) return { engine: 'sqlite', path };
  if (isPostgresUrl(text)) return { engine: 'postgres', url: text };
  throw new Error(`sqlite:PATH, or postgres://USER:PASSWORD@HOST:PORT/DATABASE${ofOneHost(text)}`);
}

/** The address of the PostgreSQL server behind a pooler; empty for none. */
export function directUrl(text: string): string | undefined {
  if (text === '') return undefined;
  if (isPostgresUrl(text)) return text;
  throw new Error(`postgres://USER:PASSWORD@HOST:PORT/DATABASE${ofOneHost(text)}, or empty`);
}

/** The driver decodes each part but the parameters. */
function isPostgresUrl(text: string): boolean {
  const [place = ''] = text.split('?');
  return /^postgres(ql)?:\/\/./.test(text) && URL.canParse(text) && isDecodable(place) && !HOSTS.test(place);
}

/** A list of hosts, which libpq knows and the driver does not. */
const HOSTS = /^postgres(ql)?:\/\/([^/]*@)?[^/@,]*,[^/@]*(\/|$)/;

const ofOneHost = (text: string): string =>
  HOSTS.test(text) ? ' with one HOST: give the address that leads to the primary' : '';

/** `redis://…`, or `rediss://…` for TLS; empty for none. The error message never holds the password. */
export function redisUrl(text: string): string | undefined {
  if (text === '') return undefined;
  const fault = new Error('redis://USER:PASSWORD@HOST:PORT/NUMBER, rediss:// for TLS, or empty');
  if (!/^rediss?:\/\/[^?#]+$/.test(text) || !URL.canParse(text)) throw fault;
  const { hostname, pathname, username, password } = new URL(text);
  if (hostname === '' || !/^(\/\d*)?$/.test(pathname) || !isDecodable(username + password)) throw fault;
  return text;
}

export function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Removes the stored tier of a bot in the command `bots:tier`, so that no tier has this name. */
export const NO_TIER = 'default';

/** `name=requests,…`: the requests per minute of each tier. A bot without another tier is in `free`. */
export function tiers(text: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const part of text.split(',')) {
    const [, name, limit] = /^\s*([a-z][a-z0-9_-]*)=([1-9]\d{0,8})\s*$/.exec(part) ?? [];
    if (name === undefined)
      throw new Error('name=requests-per-minute pairs, for example free=30,standard=300');
    found.set(name, Number(limit));
  }
  if (found.has(NO_TIER)) throw new Error(`a list without the tier ${NO_TIER}, a word of bots:tier`);
  if (!found.has('free'))
    throw new Error('a list that holds the tier free, for example free=30,standard=300');
  return found;
}

/** `platform_bot_id=tier,…`, empty for none. */
export function botTiers(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const part of text.split(',').filter((entry) => entry.trim() !== '')) {
    const [, bot, tier] = /^\s*(\d{17,20})=([a-z][a-z0-9_-]*)\s*$/.exec(part) ?? [];
    if (bot === undefined || tier === undefined) {
      throw new Error('platform_bot_id=tier pairs, for example 123456789012345678=high');
    }
    found.set(bot, tier);
  }
  return found;
}

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000 } as const;

/** `5s,1m,2h`: the pauses after each failed attempt, in milliseconds. */
export function schedule(text: string): readonly number[] {
  return text.split(',').map((part) => {
    const [, amount, unit] = /^\s*(\d{1,6})([smh])\s*$/.exec(part) ?? [];
    if (amount === undefined) throw new Error('pauses such as 5s,1m,2h');
    return Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS];
  });
}

/** `base64[,base64…]`, or lines as in a key file: keys of 32 bytes; empty for none. */
export function masterKeys(text: string): readonly Buffer[] {
  const keys = text
    .split(/[,\s]+/)
    .filter((part) => part !== '')
    .map((part) => Buffer.from(part, 'base64'));
  if (keys.some((key) => key.length !== 32))
    throw new Error(
      '32 random bytes as base64 (openssl rand -base64 32), or several such, the present one first',
    );
  return keys;
}

/** A key where a path or a program belongs: a message about it would show it. A path hardly ever looks so. */
const LIKE_A_KEY = /^\s*[\w+/-]{43}=/;

/** The path of a file with master keys; empty for none. */
export function masterKeyPath(value: string): string {
  if (LIKE_A_KEY.test(value))
    throw new Error(
      'the path of a file with the key, not the key itself: that belongs into LETHE_MASTER_KEY',
    );
  return value;
}

/** Signs that only a shell understands. */
const OF_A_SHELL = /["'`$|&;<>\\]/;

/** A program with its arguments: words with blanks between them, or a JSON array of them; empty for none. */
export function command(value: string): readonly string[] {
  if (value.trim() === '') return [];
  if (LIKE_A_KEY.test(value))
    throw new Error('a program that prints the key, not the key itself: that belongs into LETHE_MASTER_KEY');
  const isArray = value.trimStart().startsWith('[');
  const words = isArray ? wordsOfJson(value) : value.trim().split(/\s+/);
  if (words === undefined || (!isArray && OF_A_SHELL.test(value)))
    throw new Error(
      'a program and its arguments, which no shell reads: words without quotes and signs of a shell, or a JSON array such as ["/etc/lethe/master-key", "an argument"]',
    );
  return words;
}

/** Undefined for what is no array of texts, of which the first names a program. */
function wordsOfJson(value: string): readonly string[] | undefined {
  try {
    const words = JSON.parse(value) as unknown;
    const areWords = (found: unknown): found is string[] =>
      Array.isArray(found) && found.every((word) => typeof word === 'string' && !word.includes('\0'));
    return areWords(words) && words[0] ? words : undefined;
  } catch {
    return undefined;
  }
}

export function text(value: string): string {
  if (value.trim() === '') throw new Error('not empty');
  return value;
}

/** A token of the `Bearer` scheme (RFC 6750), long enough to resist guessing; empty for none. */
export function bearerToken(value: string): string {
  if (value !== '' && !/^[A-Za-z0-9._~+/-]{16,256}={0,2}$/.test(value))
    throw new Error('16 to 256 letters, digits and . _ ~ + / - (openssl rand -hex 32)');
  return value;
}

/** {@link bearerToken} that no one takes for an API key. */
export function operatorToken(value: string): string {
  if (/^sk_/i.test(value))
    throw new Error('a token that does not begin like an API key (openssl rand -hex 32)');
  return bearerToken(value);
}

/** `name,…` as in a `Host` header, without ports; empty for none. */
export function hostNames(value: string): readonly string[] {
  const names = value.split(',').map((name) => name.trim().toLowerCase());
  if (value !== '' && !names.every((name) => /^([a-z0-9._-]+|\[[0-9a-f:.]+\])$/.test(name)))
    throw new Error('names without ports, after commas, for example gdpr.example.org');
  return value === '' ? [] : names;
}

/** The origin of the pages for people. */
export function publicUrl(value: string): string | undefined {
  if (value === '') return undefined;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`)
    throw new Error('a URL with http: or https: and without a path, for example https://gdpr.example.org');
  return url.origin;
}

/**
 * One environment variable: a row of the table in docs/reference.md, of `.env.example` and of the check at the start.
 */
export interface Setting<T> {
  readonly name: string;
  readonly default: string;
  readonly description: string;
  /** @throws Error whose message completes the sentence "NAME must be …". */
  readonly parse: (text: string) => T;
}

export function setting<T>(
  name: string,
  fallback: string,
  description: string,
  parse: (text: string) => T,
): Setting<T> {
  return { name, default: fallback, description, parse };
}
