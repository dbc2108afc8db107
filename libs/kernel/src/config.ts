import { readFileSync } from 'node:fs';
import { keySettingsContradict, masterKeysOf } from './master-key-source';
import type { Setting } from './setting-values';
import { SETTINGS } from './settings';
import { isNearMiss } from './near-miss';
import { settingsIn } from './settings-file';

type Settings = typeof SETTINGS;

/** The validated configuration. It is read once at the start and never changes. */
export type Config = { readonly [K in keyof Settings]: Settings[K] extends Setting<infer T> ? T : never };

/** Injection token of {@link Config}. */
export const CONFIG = Symbol('Config');

/** The configuration cannot be used. `faults` holds one readable line for each mistake. */
export class ConfigError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(`The configuration cannot be used:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Prefixes that belong to Lethe. A variable with such a prefix that is not a setting is a typing mistake. The test of this file lists
 * the settings without one, whose words other programs use too.
 */
const OWN_PREFIX =
  /^(LETHE|WEBHOOK|RATE_LIMIT|BODY_LIMIT|BATCH_BODY|CONNECTIONS_|ALLOWED_|READER_|STREAMS_|DATA_LIMIT|DETAILS_LIMIT|DECLARATION_|CATEGORIES_|CONSENT_TEXTS_|JSON_DEPTH|REVOKED_DATA|EVIDENCE|MIGRATE|SHUTDOWN|METRICS|OPERATOR|REGISTRATION|TRUST_PROXY|DATABASE_|BACKUP_)/;

/** The beginning of settings that other programs use too: only what nearly is one of them is a typing mistake. */
const SHARED_PREFIX = /^(WORKER|API_KEY|KEEP_ALIVE)_/;

/** Settings of a bot, by the form of their values. `lethe init` writes them into `.env`, which may also be the file of Lethe. */
const OF_BOTS: Readonly<Record<string, RegExp>> = {
  LETHE_URL: /^https?:\/\//,
  LETHE_BOT_ID: /^[0-9a-f-]{36}$/,
  LETHE_KEY: /^sk_(live|test)_/,
  LETHE_WEBHOOK_SECRET: /^whsec_/,
};

const KNOWN = new Set<string>(Object.values(SETTINGS).map((setting) => setting.name));
const SHARED = [...KNOWN].filter((name) => SHARED_PREFIX.test(name));

/** Whether a variable of this name is a setting, or is meant as one. */
const isOwn = (name: string): boolean =>
  KNOWN.has(name) || OWN_PREFIX.test(name) || SHARED.some((setting) => isNearMiss(name, setting));

/**
 * Reads every setting from `environment`. An empty variable counts as not set. Settings without a fault that name a file or a
 * command for the master key are followed: the file is read, the command is run, and `masterKeys` has what they give.
 * @throws ConfigError that lists every fault, not only the first.
 */
export function readConfig(environment: Environment): Config {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [key, setting] of Object.entries<Setting<unknown>>(SETTINGS)) {
    try {
      values[key] = setting.parse(environment[setting.name] || setting.default);
    } catch (error) {
      faults.push(`${setting.name} must be ${(error as Error).message}`);
    }
  }
  for (const [name, value = ''] of Object.entries(environment)) {
    if (isOwn(name) && !KNOWN.has(name) && OF_BOTS[name]?.test(value) !== true)
      faults.push(`${name} is not a setting of Lethe; docs/reference.md lists them all`);
  }
  const config = values as Config;
  if (faults.length === 0) faults.push(...contradictions(config));
  if (faults.length > 0) throw new ConfigError(faults);
  try {
    return Object.freeze({
      ...config,
      masterKeys: masterKeysOf(config, environment, (name) => KNOWN.has(name)),
    });
  } catch (error) {
    throw new ConfigError([(error as Error).message]);
  }
}

function contradictions(config: Config): string[] {
  const faults: string[] = [];
  const keys = keySettingsContradict(config);
  if (keys !== undefined) faults.push(keys);
  if (config.database.engine === 'sqlite' && config.jobs === 'off')
    faults.push(
      'JOBS must be on with SQLite: its file belongs to one process, so a worker cannot run the jobs',
    );
  if (config.database.engine === 'sqlite' && config.databaseDirectUrl !== undefined)
    faults.push(
      'DATABASE_DIRECT_URL must be empty with SQLite: it is the server behind a pooler of PostgreSQL',
    );
  if (config.registration === 'token' && config.registrationToken === '')
    faults.push('REGISTRATION_TOKEN must be set where REGISTRATION is token (openssl rand -hex 32)');
  const others = [config.metricsToken, config.registrationToken];
  if (config.operatorToken !== '' && others.includes(config.operatorToken))
    faults.push(
      'OPERATOR_TOKEN must be another token than METRICS_TOKEN and REGISTRATION_TOKEN, which others have',
    );
  if (config.otlpEndpoint !== undefined && config.otlpProtocol !== 'http/json')
    faults.push(
      'OTEL_EXPORTER_OTLP_PROTOCOL must be http/json: Lethe sends OTLP over HTTP as JSON, which collectors take on port 4318',
    );
  for (const [bot, tier] of config.botTiers)
    if (!config.tiers.has(tier))
      faults.push(
        `RATE_LIMIT_BOT_TIERS gives bot ${bot} the tier ${tier}, which RATE_LIMIT_TIERS does not name`,
      );
  return faults;
}

/**
 * {@link readConfig} of the process environment. Variables that are missing there are read from the `.env` file of the
 * working directory.
 */
export function loadConfig(): Config {
  return readConfig({ ...readDotenv('.env'), ...process.env });
}

/** The settings of a file like `.env`; none if there is no file. @throws ConfigError that names each place that is not understood */
export function readDotenv(path: string): Environment {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new ConfigError([`${path} cannot be read: ${(error as Error).message}`]);
  }
  const { values, faults } = settingsIn(bytes, path, isOwn);
  if (faults.length > 0) throw new ConfigError(faults);
  return values;
}
