/** One environment variable: the row of the README's table, of `.env.example` and of the check at the start. */
export interface Setting<T> {
  readonly name: string;
  readonly default: string;
  readonly description: string;
  /** @throws Error whose message completes the sentence "NAME must be …". */
  readonly parse: (text: string) => T;
}

function setting<T>(
  name: string,
  fallback: string,
  description: string,
  parse: (text: string) => T,
): Setting<T> {
  return { name, default: fallback, description, parse };
}

function integer(min: number, max: number) {
  return (text: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max)
      throw new Error(`a whole number from ${min} to ${max}`);
    return value;
  };
}

function oneOf<const T extends string>(...values: T[]) {
  return (text: string): T => {
    const found = values.find((value) => value === text);
    if (found === undefined) throw new Error(`one of ${values.join(', ')}`);
    return found;
  };
}

const boolean = (text: string): boolean => oneOf('true', 'false')(text) === 'true';

/** `sqlite:PATH`. Other engines are refused until they are supported. */
function databaseUrl(text: string): { engine: 'sqlite'; path: string } {
  const path = /^sqlite:(?:\/\/)?(.+)$/.exec(text)?.[1];
  if (path === undefined) throw new Error('sqlite:PATH, for example sqlite:./data/lethe.db');
  return { engine: 'sqlite', path };
}

/** `name=requests,…`: requests per minute of each tier; `free` is the tier of a bot that has no other. */
function tiers(text: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const part of text.split(',')) {
    const [, name, limit] = /^\s*([a-z][a-z0-9_-]*)=([1-9]\d{0,8})\s*$/.exec(part) ?? [];
    if (name === undefined)
      throw new Error('name=requests-per-minute pairs, for example free=30,standard=300');
    found.set(name, Number(limit));
  }
  if (!found.has('free'))
    throw new Error('a list that holds the tier free, for example free=30,standard=300');
  return found;
}

/** `platform_bot_id=tier,…`, empty for none. */
function botTiers(text: string): ReadonlyMap<string, string> {
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
function schedule(text: string): readonly number[] {
  return text.split(',').map((part) => {
    const [, amount, unit] = /^\s*(\d{1,6})([smh])\s*$/.exec(part) ?? [];
    if (amount === undefined) throw new Error('pauses such as 5s,1m,2h');
    return Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS];
  });
}

/** `base64[,base64…]`: keys of 32 bytes; empty for none. */
function masterKeys(text: string): readonly Buffer[] {
  const keys = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => Buffer.from(part, 'base64'));
  if (keys.some((key) => key.length !== 32))
    throw new Error(
      '32 random bytes as base64 (openssl rand -base64 32), or several such, the present one first',
    );
  return keys;
}

function text(value: string): string {
  if (value.trim() === '') throw new Error('not empty');
  return value;
}

/** What stands behind `Bearer` (RFC 6750), long enough not to be guessed; empty for none. */
function bearerToken(value: string): string {
  if (value !== '' && !/^[A-Za-z0-9._~+/-]{16,256}={0,2}$/.test(value))
    throw new Error('16 to 256 letters, digits and . _ ~ + / - (openssl rand -hex 32)');
  return value;
}

/** Every variable Lethe reads, in the order of the README. */
export const SETTINGS = {
  nodeEnv: setting(
    'NODE_ENV',
    'development',
    '`production` refuses `http:` webhook targets unless `WEBHOOK_REQUIRE_HTTPS=false`',
    oneOf('development', 'production', 'test'),
  ),
  host: setting('HOST', '127.0.0.1', 'Address to listen on', text),
  port: setting('PORT', '3000', 'Port to listen on; 0 takes a free one', integer(0, 65_535)),
  database: setting(
    'DATABASE_URL',
    'sqlite:./data/lethe.db',
    '`sqlite:PATH` of the database file',
    databaseUrl,
  ),
  migrateOnStart: setting('MIGRATE_ON_START', 'true', 'Bring the schema up to date at the start', boolean),
  masterKeys: setting(
    'LETHE_MASTER_KEY',
    '',
    'Key that encrypts secrets in the database: `openssl rand -base64 32`; older ones may follow after commas. Without it a key file beside the database is generated',
    masterKeys,
  ),
  tiers: setting(
    'RATE_LIMIT_TIERS',
    'free=30,standard=300,high=3000',
    'Requests per minute of each tier; a bot without another tier is `free`',
    tiers,
  ),
  botTiers: setting('RATE_LIMIT_BOT_TIERS', '', 'Tiers of single bots: `platform_bot_id=tier,…`', botTiers),
  anonymousLimit: setting(
    'RATE_LIMIT_ANONYMOUS',
    '120',
    'Requests per minute of one client address without a valid key',
    integer(1, 100_000_000),
  ),
  trustProxy: setting(
    'TRUST_PROXY',
    '0',
    'How many reverse proxies stand in front; with 0 `X-Forwarded-For` is ignored',
    integer(0, 16),
  ),
  bodyLimitBytes: setting('BODY_LIMIT_BYTES', '262144', 'Largest request body', integer(1024, 67_108_864)),
  dataLimitBytes: setting(
    'DATA_LIMIT_BYTES',
    '65536',
    'Largest `data` object of one submit, as JSON',
    integer(16, 67_108_864),
  ),
  detailsLimitBytes: setting(
    'DETAILS_LIMIT_BYTES',
    '8192',
    'Largest `details` object of an audit event, as JSON',
    integer(16, 67_108_864),
  ),
  jsonDepthLimit: setting('JSON_DEPTH_LIMIT', '16', 'Deepest nesting of a request body', integer(2, 64)),
  webhookRetrySchedule: setting(
    'WEBHOOK_RETRY_SCHEDULE',
    '5s,1m,5m,30m,2h,5h,10h,24h,24h',
    'Pauses before the retries of a webhook call; after the last one it is `exhausted`',
    schedule,
  ),
  webhookConnectTimeoutMs: setting(
    'WEBHOOK_CONNECT_TIMEOUT_MS',
    '3000',
    'Milliseconds to connect to a receiver',
    integer(10, 60_000),
  ),
  webhookTimeoutMs: setting(
    'WEBHOOK_TIMEOUT_MS',
    '10000',
    'Milliseconds for a whole webhook call',
    integer(10, 120_000),
  ),
  webhookConcurrency: setting(
    'WEBHOOK_CONCURRENCY',
    '32',
    'Webhook calls under way at once',
    integer(1, 1000),
  ),
  webhookConcurrencyPerUrl: setting(
    'WEBHOOK_CONCURRENCY_PER_URL',
    '2',
    'Webhook calls under way at once to one URL',
    integer(1, 100),
  ),
  webhookRetentionDays: setting(
    'WEBHOOK_RETENTION_DAYS',
    '30',
    'Days for which the record of a delivery stays after it has ended',
    integer(1, 3650),
  ),
  webhookAllowPrivateNetworks: setting(
    'WEBHOOK_ALLOW_PRIVATE_NETWORKS',
    'auto',
    '`true`: webhooks may go to private addresses; `false`: never; `auto`: to loopback while `HOST` is loopback',
    oneOf('auto', 'true', 'false'),
  ),
  webhookRequireHttps: setting(
    'WEBHOOK_REQUIRE_HTTPS',
    'auto',
    'Refuse `http:` webhook targets; `auto` means in production',
    oneOf('auto', 'true', 'false'),
  ),
  shutdownTimeoutMs: setting(
    'SHUTDOWN_TIMEOUT_MS',
    '20000',
    'Milliseconds that requests and webhook calls under way are given at a shutdown',
    integer(0, 600_000),
  ),
  metricsToken: setting(
    'METRICS_TOKEN',
    '',
    'Token with which `/metrics` may be read, 16 to 256 characters; without one it is answered to callers on the machine itself alone',
    bearerToken,
  ),
  logLevel: setting(
    'LOG_LEVEL',
    'info',
    'Least severe log lines to write',
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  ),
} as const;
