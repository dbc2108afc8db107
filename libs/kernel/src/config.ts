import { readFileSync } from 'node:fs';
import { guidePath } from './installation';
import { keySettingsContradict, masterKeysOf } from './master-key-source';
import type { Setting } from './setting-values';
import { SETTINGS } from './settings';
import { settingMeantBy } from './near-miss';
import { settingsIn, type SettingsFile } from './settings-file';

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
 * Prefixes that belong to Lethe: a variable with one that is no setting is refused, however far it is from one. Bots
 * have the names of webhooks that are left out, and hosts of databases the others.
 */
const OWN_PREFIX =
  /^(LETHE|WEBHOOK(?!_(URL|ID|TOKEN|SECRET|HOST|PORT|PATH)$)|RATE_LIMIT|BODY_LIMIT|BATCH_BODY|CONNECTIONS_|ALLOWED_|READER_|STREAMS_|DATA_LIMIT|DETAILS_LIMIT|DECLARATION_|CATEGORIES_|CONSENT_TEXTS_|JSON_DEPTH|REVOKED_DATA|EVIDENCE|MIGRATE|SHUTDOWN|METRICS|OPERATOR|REGISTRATION|TRUST_PROXY|DATABASE_(?!(CONNECTION_POOL_URL|URL_UNPOOLED|PUBLIC_URL|PRIVATE_URL)$)|BACKUP_)/;

/** Settings of a bot, by the form of their values. `lethe init` writes them into `.env`, which may also be the file of Lethe. */
const OF_BOTS: Readonly<Record<string, RegExp>> = {
  LETHE_URL: /^https?:\/\//,
  LETHE_BOT_ID: /^[0-9a-f-]{36}$/,
  LETHE_KEY: /^sk_(live|test)_/,
  LETHE_WEBHOOK_SECRET: /^whsec_/,
};

const KNOWN = new Set<string>(Object.values(SETTINGS).map((setting) => setting.name));
const NAMES = [...KNOWN];

/** Whether a variable of this name is a setting, or begins as settings do. */
const hasOwnName = (name: string): boolean => KNOWN.has(name) || OWN_PREFIX.test(name);

/** Whether a variable of this name is a setting, or is meant as one. */
const isOwn = (name: string): boolean => hasOwnName(name) || settingMeantBy(name, NAMES) !== undefined;

function notASetting(name: string): string {
  const meant = settingMeantBy(name, NAMES);
  const question = meant === undefined ? '' : ` (did you mean ${meant}?)`;
  return `${name} is not a setting of Lethe${question}; ${guidePath('reference.md')} lists them all`;
}

/**
 * Reads every setting from `environment`. An empty variable counts as not set. Settings without a fault that name a file or a
 * command for the master key are followed: the file is read, the command is run, and `masterKeys` has what they give.
 * @param known the faults of the file from which some of them are
 * @throws ConfigError that lists every fault, not only the first.
 */
export function readConfig(environment: Environment, known: readonly string[] = []): Config {
  const faults = [...known];
  const faulty = new Set<string>();
  const values: Record<string, unknown> = {};
  for (const [key, setting] of Object.entries<Setting<unknown>>(SETTINGS)) {
    try {
      values[key] = setting.parse(environment[setting.name] || setting.default);
    } catch (error) {
      faulty.add(key);
      faults.push(`${setting.name} must be ${(error as Error).message}`);
    }
  }
  for (const [name, value = ''] of Object.entries(environment)) {
    if (isOwn(name) && !KNOWN.has(name) && OF_BOTS[name]?.test(value) !== true)
      faults.push(notASetting(name));
  }
  const config = values as Config;
  const isRead = (...keys: readonly (keyof Config)[]): boolean => !keys.some((key) => faulty.has(key));
  // What a faulty setting is meant to be is not known: rules about it are not looked at. A line of a file may be about any.
  const rules = known.length === 0 ? RULES : [];
  for (const { of, broken } of rules) if (isRead(...of)) faults.push(...broken(config));
  let given: readonly Buffer[] = [];
  // A command may ask a person or a remote service: it is run once, when all else is right.
  const isAsked = faults.length === 0 || config.masterKeyCommand?.length === 0;
  if (isAsked && isRead(...KEY_SETTINGS) && keySettingsContradict(config) === undefined)
    try {
      given = masterKeysOf(config, environment, (name) => KNOWN.has(name));
    } catch (error) {
      faults.push((error as Error).message);
    }
  if (faults.length > 0) throw new ConfigError(faults);
  return Object.freeze({ ...config, masterKeys: given });
}

const KEY_SETTINGS = ['masterKeys', 'masterKeyFile', 'masterKeyCommand'] as const;

/** What several settings may not be together. */
interface Rule {
  readonly of: readonly (keyof Config)[];
  readonly broken: (config: Config) => readonly string[];
}

const RULES: readonly Rule[] = [
  {
    of: KEY_SETTINGS,
    broken: (config) => [keySettingsContradict(config)].filter((fault) => fault !== undefined),
  },
  rule(
    ['database', 'jobs'],
    ({ database, jobs }) => database.engine === 'sqlite' && jobs === 'off',
    'JOBS must be on with SQLite: its file belongs to one process, so a worker cannot run the jobs',
  ),
  rule(
    ['database', 'databaseDirectUrl'],
    ({ database, databaseDirectUrl }) => database.engine === 'sqlite' && databaseDirectUrl !== undefined,
    'DATABASE_DIRECT_URL must be empty with SQLite: it is the server behind a pooler of PostgreSQL',
  ),
  rule(
    ['registration', 'registrationToken'],
    ({ registration, registrationToken }) => registration === 'token' && registrationToken === '',
    'REGISTRATION_TOKEN must be set where REGISTRATION is token (openssl rand -hex 32)',
  ),
  rule(
    ['operatorToken', 'metricsToken', 'registrationToken'],
    ({ operatorToken, metricsToken, registrationToken }) =>
      operatorToken !== '' && [metricsToken, registrationToken].includes(operatorToken),
    'OPERATOR_TOKEN must be another token than METRICS_TOKEN and REGISTRATION_TOKEN, which others have',
  ),
  rule(
    ['otlpEndpoint', 'otlpProtocol'],
    ({ otlpEndpoint, otlpProtocol }) => otlpEndpoint !== undefined && otlpProtocol !== 'http/json',
    'OTEL_EXPORTER_OTLP_PROTOCOL must be http/json: Lethe sends OTLP over HTTP as JSON, which collectors take on port 4318',
  ),
  {
    of: ['botTiers', 'tiers'],
    broken: ({ botTiers, tiers }) =>
      [...botTiers]
        .filter(([, tier]) => !tiers.has(tier))
        .map(
          ([bot, tier]) =>
            `RATE_LIMIT_BOT_TIERS gives bot ${bot} the tier ${tier}, which RATE_LIMIT_TIERS does not name`,
        ),
  },
];

function rule(of: readonly (keyof Config)[], isBroken: (config: Config) => boolean, fault: string): Rule {
  return { of, broken: (config) => (isBroken(config) ? [fault] : []) };
}

/**
 * {@link readConfig} of the process environment. Variables that are missing or empty there are read from the `.env` file
 * of the working directory. The faults of both are listed together.
 */
export function loadConfig(): Config {
  const { values, faults } = dotenvIn('.env');
  const given = Object.entries(process.env).filter(([name, value]) => value || values[name] === undefined);
  return readConfig({ ...values, ...Object.fromEntries(given) }, faults);
}

/** The settings of a file like `.env`; none if there is no file. @throws ConfigError that names each place that is not understood */
export function readDotenv(path: string): Environment {
  const { values, faults } = dotenvIn(path);
  if (faults.length > 0) throw new ConfigError(faults);
  return values;
}

function dotenvIn(path: string): SettingsFile {
  try {
    return settingsIn(readFileSync(path), path, hasOwnName);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { values: {}, faults: code === 'ENOENT' ? [] : [`${path} cannot be read: ${message}`] };
  }
}
