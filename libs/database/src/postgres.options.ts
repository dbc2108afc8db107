import { type Config, StartError } from '@app/kernel';
import { Client, type ClientBase, type ClientConfig, type PoolConfig, type QueryResult, types } from 'pg';
import { DataSource } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions';
import { databaseIsStandby, driverCode } from './database-faults';
import { NamingStrategy } from './index-names';

/** Text is compared byte by byte, as on SQLite, whatever the locale of the database is. */
export const COLLATION = 'C';

const INT8 = 20;
const NUMERIC = 1700;

/** Reads counts and sums as numbers. No number of Lethe exceeds 2^53. */
function getTypeParser(oid: number, format?: 'text'): (text: string) => unknown {
  return oid === INT8 || oid === NUMERIC
    ? Number
    : (types.getTypeParser(oid, format) as (text: string) => unknown);
}

export type PostgresConfig = Pick<
  Config,
  'databasePoolSize' | 'databaseStatementTimeoutMs' | 'databaseLockTimeoutMs' | 'databaseDirectUrl'
>;

/** Options of a connection through a pooler, which gives it another session of the server for each transaction. */
export interface Pooled {
  /** The settings of a unit, sent with its BEGIN; absent where the sessions of the server are Lethe's own, and have them. */
  readonly unitSettings?: string;
}

/** The server ends a transaction that waits longer for its next statement, in milliseconds; longer if waits for locks may be. */
const IDLE_IN_TRANSACTION_MS = 30_000;
/** The same for a change of the schema, in milliseconds. */
const SCHEMA_IDLE_MS = 60_000;

/** Parameters of a URL that Lethe sets itself. The driver prefers those of the URL. */
const OWN_PARAMETERS = [
  'application_name',
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'query_timeout',
  'options',
];

/** The `url` and the settings of a connection. Those of Lethe win over those of the URL, whose other `options` remain. */
export function ofConnection(
  url: string,
  settings: { readonly options?: string; readonly [name: string]: unknown },
): { url: string; extra: object } {
  const place = new URL(url);
  const given = place.searchParams.getAll('options').at(-1) ?? '';
  for (const name of OWN_PARAMETERS) place.searchParams.delete(name);
  // The server takes the last value of a setting.
  const options = `${given} ${settings.options ?? ''}`.trim();
  return { url: place.href, extra: { ...settings, options } };
}

/**
 * The settings of every connection: times in UTC, bounded waits, generic plans. `url` may carry the TLS parameters of
 * libpq (`sslmode`, `sslrootcert`, …). A pooler accepts no settings at the start of a connection.
 */
export function postgresOptions(url: string, config: PostgresConfig): PostgresDataSourceOptions {
  return {
    type: 'postgres',
    poolSize: config.databasePoolSize,
    connectTimeoutMS: config.databaseLockTimeoutMs,
    installExtensions: false,
    namingStrategy: new NamingStrategy(),
    ...ofConnection(url, {
      application_name: 'lethe',
      keepAlive: true,
      // The server's own time-out fires first. This one is for a server that does not answer.
      query_timeout: config.databaseStatementTimeoutMs + 5_000,
      types: { getTypeParser },
      pipeline: true,
      ...(config.databaseDirectUrl === undefined ? ofSession(config) : ofUnit(config)),
    }),
  };
}

/** The place for the operator, without a password. */
export function placeOf(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `PostgreSQL, ${hostname}${port && `:${port}`}${pathname}`;
}

/** @throws StartError while a process of Lethe is connected to the database, whose `place` the message names */
export async function requireUnused(source: Pick<DataSource, 'query'>, place: string): Promise<void> {
  const [row] = await source.query<{ count: string }[]>(
    `SELECT COUNT(*) AS count FROM pg_stat_activity
     WHERE datname = current_database() AND application_name IN ('lethe', 'lethe-signals')`,
  );
  if (Number(row?.count) > 0)
    throw new StartError(
      `A process of Lethe is using ${place}. Stop it, then run this again. Where none runs, a pooler still has its connection: RECONNECT closes it in PgBouncer.`,
    );
}

function timeouts(config: PostgresConfig) {
  return {
    statement_timeout: config.databaseStatementTimeoutMs,
    lock_timeout: config.databaseLockTimeoutMs,
    idle_in_transaction_session_timeout: Math.max(IDLE_IN_TRANSACTION_MS, config.databaseLockTimeoutMs),
  };
}

/** No limit of this process for a statement. The driver does not send the 0, so that {@link WITHOUT_TIME_LIMITS} is needed too. */
const UNLIMITED = { statement_timeout: 0, query_timeout: 0 };
/** Takes from a session the limits of the database and the role for a statement and a transaction, which servers before 17 do not know. */
export const WITHOUT_TIME_LIMITS = `SELECT set_config(name, '0', false) FROM pg_settings
  WHERE name IN ('statement_timeout', 'transaction_timeout')`;

export const IN_RECOVERY = 'SELECT pg_is_in_recovery() AS standby';
/** SQLSTATE of a feature that the server does not support. A BEGIN has it where it says READ WRITE to a standby. */
const NOT_IN_RECOVERY = '0A000';

/**
 * Asks a server after its connection, or together with `begin`, whether it is in recovery. A session of a primary never
 * becomes one of a standby.
 * @throws ApiError 503 for a standby
 */
export async function requirePrimary(client: ClientBase, begin = ''): Promise<void> {
  const answered: QueryResult | QueryResult[] = await client.query(begin + IN_RECOVERY).catch((error) => {
    // A standby refuses to begin a unit that writes, before it is asked.
    throw driverCode(error) === NOT_IN_RECOVERY ? databaseIsStandby() : error;
  });
  const [last] = Array.isArray(answered) ? (answered as QueryResult[]).slice(-1) : [answered];
  if ((last?.rows[0] as { standby: boolean } | undefined)?.standby === true) throw databaseIsStandby();
}

/** pg-pool waits for its promise, which the types do not say. */
const onConnect: (client: ClientBase) => unknown = requirePrimary;

function ofSession(config: PostgresConfig): PoolConfig {
  return {
    ...timeouts(config),
    // A connection to a standby, kept in the pool, would still lead there when the address leads to the primary.
    // Unlike `verify` of pg-pool, this loses no connection whose caller has stopped waiting meanwhile.
    onConnect,
    options: [
      // Planning a statement on a partitioned table costs more than running it. A generic plan prunes partitions at
      // run time.
      '-c plan_cache_mode=force_generic_plan',
      '-c timezone=UTC',
      // Only a transaction with READ WRITE can write, so that a statement sent after a failed BEGIN is refused.
      '-c default_transaction_read_only=on',
    ].join(' '),
  };
}

function ofUnit(config: PostgresConfig): Pooled {
  const settings = Object.entries({ ...timeouts(config), timezone: "'UTC'" });
  return { unitSettings: settings.map(([name, value]) => `SET LOCAL ${name} = ${value}`).join('; ') };
}

/**
 * A connection to the server itself, beside a pooler: for what needs a session of its own, and for reads that a unit waits
 * for, which find no session of the pooler free when units hold all of them.
 */
export function directClient(url: string, config: PostgresConfig): ClientConfig {
  const direct = { ...config, databaseDirectUrl: undefined };
  const options = postgresOptions(config.databaseDirectUrl ?? url, direct);
  const connectionTimeoutMillis = config.databaseLockTimeoutMs;
  return { connectionString: options.url, connectionTimeoutMillis, ...(options.extra as object) };
}

/**
 * The options for changes of the schema, whose statements have no time limit. The server ends a change whose process no
 * longer sends any: its locks keep every request out.
 */
export function ofSchema(options: PostgresDataSourceOptions, url: string): PostgresDataSourceOptions {
  const connection = ofConnection(url, {
    ...(options.extra as PoolConfig),
    ...UNLIMITED,
    application_name: 'lethe-schema',
    lock_timeout: 0,
    idle_in_transaction_session_timeout: SCHEMA_IDLE_MS,
    // A move holds the lock of the schema by a session that is idle for hours.
    options: '-c timezone=UTC -c lock_timeout=0 -c idle_session_timeout=0',
    pipeline: false,
    onConnect: (client: ClientBase) => client.query(WITHOUT_TIME_LIMITS),
  });
  return { ...options, ...connection, poolSize: 1 };
}

/** TypeORM's connection to PostgreSQL. Integers of its schema have 64 bits, and text is compared byte by byte. */
export class PostgresDataSource extends DataSource {
  protected override async buildMetadatas(): Promise<void> {
    await super.buildMetadatas();
    for (const column of this.entityMetadatas.flatMap(({ columns }) => columns))
      if (column.type === 'integer') column.type = 'bigint';
      else column.collation = COLLATION;
  }
}

/**
 * Vacuums a table on a connection of its own until `stopping` is aborted; only its wait for the lock has a limit. Returns the first
 * warning of the server, for example that the table belongs to another user and is left out.
 */
export async function vacuum(
  config: ClientConfig,
  table: string,
  stopping: AbortSignal,
): Promise<string | undefined> {
  // With pipelining the end would wait for the vacuum.
  const client = new Client({ ...config, pipeline: false, ...UNLIMITED });
  const stop = (): void => void client.end().catch(() => undefined);
  let warning: string | undefined;
  client.on('error', () => undefined);
  stopping.addEventListener('abort', stop);
  try {
    await client.connect();
    await client.query(WITHOUT_TIME_LIMITS);
    client.on('notice', ({ message }) => (warning ??= message));
    await client.query(`VACUUM (INDEX_CLEANUP ON) ${table}`);
  } finally {
    stopping.removeEventListener('abort', stop);
    await client.end().catch(() => undefined);
  }
  return warning;
}
