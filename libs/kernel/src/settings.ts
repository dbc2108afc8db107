import {
  bearerToken,
  boolean,
  databaseUrl,
  daysOrOff,
  hostNames,
  integer,
  masterKeys,
  oneOf,
  publicUrl,
  schedule,
  setting,
  text,
} from './setting-values';
import { CALLER_LIMITS } from './settings.limits';

/** The default path of the embedded database. */
export const DEFAULT_DATABASE_PATH = './data/lethe.db';

/** Every variable of Lethe, in the order of docs/reference.md. */
export const SETTINGS = {
  nodeEnv: setting(
    'NODE_ENV',
    'development',
    '`production` refuses `http:` webhook targets unless `WEBHOOK_REQUIRE_HTTPS=false`, and loopback ones unless `WEBHOOK_ALLOW_PRIVATE_NETWORKS=true`',
    oneOf('development', 'production', 'test'),
  ),
  host: setting('HOST', '127.0.0.1', 'Address to listen on', text),
  allowedHosts: setting(
    'ALLOWED_HOSTS',
    '',
    'Further names, after commas, that are answered while `HOST` is loopback: those under which a proxy passes requests on. Others get 421',
    hostNames,
  ),
  publicUrl: setting(
    'PUBLIC_URL',
    '',
    'Where users reach Lethe in their browsers, for example `https://gdpr.example.org`: the origin of the links to privacy pages. Default: where the service listens',
    publicUrl,
  ),
  port: setting('PORT', '3000', 'Port to listen on; 0 takes a free one', integer(0, 65_535)),
  workerPort: setting(
    'WORKER_PORT',
    '3001',
    'Port of the worker, for `/health/live`, `/health/ready` and `/metrics` alone; 0 takes a free one',
    integer(0, 65_535),
  ),
  jobs: setting(
    'JOBS',
    'on',
    '`off`: this process sends no webhooks and runs no jobs; workers do (PostgreSQL). A worker always runs them',
    oneOf('on', 'off'),
  ),
  database: setting(
    'DATABASE_URL',
    `sqlite:${DEFAULT_DATABASE_PATH}`,
    '`sqlite:PATH` of the database file, or `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, with parameters such as `?sslmode=verify-full`',
    databaseUrl,
  ),
  databasePoolSize: setting(
    'DATABASE_POOL_SIZE',
    '10',
    'PostgreSQL: connections of each process for writing; a few more serve reads, exports and wake-ups',
    integer(2, 500),
  ),
  databaseStatementTimeoutMs: setting(
    'DATABASE_STATEMENT_TIMEOUT_MS',
    '10000',
    'PostgreSQL: milliseconds after which a statement is cancelled with a 503',
    integer(100, 600_000),
  ),
  databaseLockTimeoutMs: setting(
    'DATABASE_LOCK_TIMEOUT_MS',
    '5000',
    'PostgreSQL: milliseconds to wait for a locked row or a free connection',
    integer(100, 600_000),
  ),
  databaseBallastMiB: setting(
    'DATABASE_BALLAST_MIB',
    '16',
    'SQLite: size of the file that is shortened on a full disk, so that erasures succeed, in MiB; at most an eighth of the disk. 0: none',
    integer(0, 1024),
  ),
  migrateOnStart: setting('MIGRATE_ON_START', 'true', 'Bring the schema up to date at the start', boolean),
  masterKeys: setting(
    'LETHE_MASTER_KEY',
    '',
    'Master key, the output of `openssl rand -base64 32`; older keys may follow after commas. Without it Lethe generates a key file beside the database',
    masterKeys,
  ),
  backupRetentionDays: setting(
    'BACKUP_RETENTION_DAYS',
    '35',
    'Days for which you keep backups. The certificate of an erasure states until when backups can contain the encrypted data',
    integer(0, 3650),
  ),
  ...CALLER_LIMITS,
  revokedDataGraceDays: setting(
    'REVOKED_DATA_GRACE_DAYS',
    '30',
    'Days after the revocation of a consent until the data that rested on it is erased; 0: within a minute; `off`: never',
    daysOrOff(0, 90),
  ),
  evidenceRetentionDays: setting(
    'EVIDENCE_RETENTION_DAYS',
    '1095',
    'Days for which records are kept: erasure requests and the history of a consent after their end, audit events',
    integer(30, 36_500),
  ),
  webhookRetrySchedule: setting(
    'WEBHOOK_RETRY_SCHEDULE',
    '5s,1m,5m,30m,2h,5h,10h,24h,24h',
    'Pauses before the retries of a webhook call; after the last one the delivery is `exhausted`',
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
    'Webhook calls at the same time',
    integer(1, 1000),
  ),
  webhookConcurrencyPerHost: setting(
    'WEBHOOK_CONCURRENCY_PER_HOST',
    '2',
    'Webhook calls of a bot at the same time to one host, which is name and port, and one while they are slow; all bots together four times as many',
    integer(1, 100),
  ),
  webhookRetentionDays: setting(
    'WEBHOOK_RETENTION_DAYS',
    '30',
    'Days for which the record of a delivery is kept after its end',
    integer(1, 3650),
  ),
  webhookAllowPrivateNetworks: setting(
    'WEBHOOK_ALLOW_PRIVATE_NETWORKS',
    'auto',
    '`true`: webhooks may go to private addresses; `false`: never; `auto`: to loopback in development, which is a loopback `HOST`, no `TRUST_PROXY` and no `NODE_ENV=production`',
    oneOf('auto', 'true', 'false'),
  ),
  webhookRequireHttps: setting(
    'WEBHOOK_REQUIRE_HTTPS',
    'auto',
    'Refuse `http:` webhook targets; `auto`: only with `NODE_ENV=production`',
    oneOf('auto', 'true', 'false'),
  ),
  shutdownTimeoutMs: setting(
    'SHUTDOWN_TIMEOUT_MS',
    '20000',
    'Milliseconds for open requests and webhook calls at a shutdown',
    integer(0, 600_000),
  ),
  registration: setting(
    'REGISTRATION',
    'open',
    'Who may register a bot: every caller (`open`), callers with the token of `REGISTRATION_TOKEN` (`token`), or no one (`off`)',
    oneOf('open', 'token', 'off'),
  ),
  registrationToken: setting(
    'REGISTRATION_TOKEN',
    '',
    'Token of a registration, 16 to 256 characters, in the header `X-Registration-Token`',
    bearerToken,
  ),
  apiKeyKind: setting(
    'API_KEY_KIND',
    'live',
    'New API keys begin with `sk_live_`, or with `sk_test_` as in a sandbox, so that one is not taken for the other',
    oneOf('live', 'test'),
  ),
  metricsToken: setting(
    'METRICS_TOKEN',
    '',
    'Token for reading `/metrics`, 16 to 256 characters. Without one only callers on the same machine can read it',
    bearerToken,
  ),
  logLevel: setting(
    'LOG_LEVEL',
    'info',
    'Lowest level of log lines to write',
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  ),
} as const;
