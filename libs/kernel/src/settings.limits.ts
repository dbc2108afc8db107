import { botTiers, integer, redisUrl, setting, tiers } from './setting-values';

/** The settings that say what callers and their connections may take. */
export const CALLER_LIMITS = {
  tiers: setting(
    'RATE_LIMIT_TIERS',
    'free=30,standard=300,high=3000',
    'Requests per minute of each tier; a bot without another tier is `free`. `bots:tier` gives a bot one of them',
    tiers,
  ),
  botTiers: setting(
    'RATE_LIMIT_BOT_TIERS',
    '',
    'Tiers of single bots that have none by `bots:tier`: `platform_bot_id=tier,…`',
    botTiers,
  ),
  anonymousLimit: setting(
    'RATE_LIMIT_ANONYMOUS',
    '120',
    'Requests per minute of one client address without a valid key',
    integer(1, 100_000_000),
  ),
  consoleLimit: setting(
    'RATE_LIMIT_CONSOLE',
    '120',
    'Requests per minute of all sessions of the console of one bot, beside those of the bot',
    integer(1, 100_000_000),
  ),
  operatorLimit: setting(
    'RATE_LIMIT_OPERATOR',
    '300',
    'Requests per minute of the operator, with the token of `OPERATOR_TOKEN`',
    integer(1, 100_000_000),
  ),
  redisUrl: setting(
    'REDIS_URL',
    '',
    'Redis in which several processes share the counts of the rate limits: `redis://USER:PASSWORD@HOST:PORT/NUMBER`, `rediss://` for TLS. Empty: each process counts alone',
    redisUrl,
  ),
  trustProxy: setting(
    'TRUST_PROXY',
    '0',
    'Number of reverse proxies in front of Lethe; with 0 `X-Forwarded-For` is ignored',
    integer(0, 16),
  ),
  connectionsMax: setting(
    'CONNECTIONS_MAX',
    '2000',
    'Open connections of the api; further ones are closed at once',
    integer(1, 1_000_000),
  ),
  keepAliveTimeoutMs: setting(
    'KEEP_ALIVE_TIMEOUT_MS',
    '65000',
    'Milliseconds for which an idle connection of the api is kept for a next request, as its answers say in `Keep-Alive`; behind a load balancer longer than that one keeps idle connections',
    integer(1_000, 3_600_000),
  ),
  readerTimeoutMs: setting(
    'READER_TIMEOUT_MS',
    '60000',
    'Milliseconds after which the connection of a reader that takes nothing of its answer is cut; a reader that has taken a part has as long again',
    integer(100, 3_600_000),
  ),
  streamsPerBot: setting(
    'STREAMS_PER_BOT',
    '8',
    'Large answers (exports, pages, logs) of one bot that are sent at the same time; as many more wait for five seconds',
    integer(1, 10_000),
  ),
  streamsMax: setting(
    'STREAMS_MAX',
    '128',
    'Large answers of all bots that are sent at the same time; a further one cuts the reader that has taken nothing for longest, a second at least',
    integer(1, 100_000),
  ),
  bodyLimitBytes: setting(
    'BODY_LIMIT_BYTES',
    '262144',
    'Largest request body, in bytes',
    integer(1024, 67_108_864),
  ),
  batchBodyLimitBytes: setting(
    'BATCH_BODY_LIMIT_BYTES',
    '1048576',
    'Largest body of `POST /data/submit/batch`, in bytes; each of its items may be as long as `BODY_LIMIT_BYTES`',
    integer(1024, 67_108_864),
  ),
  dataLimitBytes: setting(
    'DATA_LIMIT_BYTES',
    '65536',
    'Largest `data` object of one submit, in bytes of JSON',
    integer(16, 67_108_864),
  ),
  detailsLimitBytes: setting(
    'DETAILS_LIMIT_BYTES',
    '8192',
    'Largest `details` object of an audit event, in bytes of JSON',
    integer(16, 67_108_864),
  ),
  declarationLimitBytes: setting(
    'DECLARATION_LIMIT_BYTES',
    '32768',
    'Largest category, and largest consent text, in bytes of JSON as it is answered',
    integer(1024, 262_144),
  ),
  categoriesPerBot: setting(
    'CATEGORIES_PER_BOT',
    '100',
    'Categories that a bot may declare',
    integer(1, 10_000),
  ),
  consentTextsPerBot: setting(
    'CONSENT_TEXTS_PER_BOT',
    '200',
    'Consent texts that a bot may register, each version and language counted',
    integer(1, 100_000),
  ),
  jsonDepthLimit: setting('JSON_DEPTH_LIMIT', '16', 'Deepest nesting of a request body', integer(2, 64)),
} as const;
