import { type Config, postgresPlaces } from '@app/kernel';

import { type Client, types } from 'pg';
import { DataSource, type EntityMetadata } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions';
import { clientOf, type ConnectionConfig } from './postgres.client';
import { PostgresServers } from './postgres.servers';

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
  | 'databasePoolSize'
  | 'databaseStatementTimeoutMs'
  | 'databaseLockTimeoutMs'
  | 'databaseDirect'
  | 'databaseRead'
>;

/** The server ends a transaction that waits longer than this for its next statement, in milliseconds. */
const IDLE_IN_TRANSACTION_MS = 30_000;

/**
 * The settings of every connection: times in UTC, bounded waits, generic plans. `url` may carry the TLS parameters of
 * libpq (`sslmode`, `sslrootcert`, …). Behind a pooler a transaction has these settings, not its connection.
 */
export function postgresOptions(url: string, config: PostgresConfig): PostgresDataSourceOptions {
  const isPooled = config.databaseDirect !== undefined;
  return {
    ...driverOptions(url, config),
    extra: isPooled ? pooledOptions(url, config) : extraOf(url, config),
  };
}

/** {@link postgresOptions} of a connection to the server itself, for what needs a session. */
export function directOptions(url: string, config: PostgresConfig): PostgresDataSourceOptions {
  const direct = config.databaseDirect ?? url;
  return { ...driverOptions(direct, config), extra: extraOf(direct, config) };
}

/** A connection to the server itself, outside a pool. */
export function directConnection(url: string, config: PostgresConfig): ConnectionConfig {
  return connectionTo(directOptions(url, config), config);
}

/** A connection to a standby, which only reads. */
export function standbyConnection(url: string, config: PostgresConfig): ConnectionConfig {
  const { places } = postgresPlaces(url);
  const servers = new PostgresServers(places, 'standby');
  const selected = clientOf(servers, 'standby', places.length > 1);
  const extra = { ...sessionOptions(config), Client: selected };
  return connectionTo({ ...driverOptions(url, config), extra }, config);
}

function connectionTo(
  { url, extra }: PostgresDataSourceOptions,
  { databaseLockTimeoutMs: connectionTimeoutMillis }: PostgresConfig,
): ConnectionConfig {
  return { connectionString: url, connectionTimeoutMillis, ...(extra as object) };
}

function driverOptions(url: string, config: PostgresConfig): PostgresDataSourceOptions {
  return {
    type: 'postgres',
    url: postgresPlaces(url).url,
    poolSize: config.databasePoolSize,
    connectTimeoutMS: config.databaseLockTimeoutMs,
    installExtensions: false,
  };
}

const found = new Map<string, typeof Client>();

/** One class for all connections of the process to the same servers: they learn together which one accepts writes. */
function primaryClient(url: string): typeof Client {
  const { places } = postgresPlaces(url);
  const key = JSON.stringify(places);
  const known =
    found.get(key) ?? clientOf(new PostgresServers(places, 'primary'), 'primary', places.length > 1);
  found.set(key, known);
  return known;
}

function extraOf(url: string, config: PostgresConfig): Record<string, unknown> {
  return { ...sessionOptions(config), Client: primaryClient(url) };
}

const ALWAYS = { application_name: 'lethe', keepAlive: true, types: { getTypeParser }, pipeline: true };

/** A pooler refuses parameters at the start of a connection, or drops them. The transactions of {@link pooledParameters} take their place. */
function pooledOptions(url: string, config: PostgresConfig): Record<string, unknown> {
  const { places } = postgresPlaces(url);
  return {
    ...ALWAYS,
    query_timeout: config.databaseStatementTimeoutMs + 5_000,
    ...(places.length > 1 && { Client: primaryClient(url) }),
  };
}

function sessionOptions(config: PostgresConfig): Record<string, unknown> {
  return {
    ...ALWAYS,
    statement_timeout: config.databaseStatementTimeoutMs,
    // The server's own time-out fires first. This one is for a server that does not answer.
    query_timeout: config.databaseStatementTimeoutMs + 5_000,
    lock_timeout: config.databaseLockTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    options: [
      // Planning a statement on a partitioned table costs more than running it. A generic plan prunes partitions at run
      // time.
      '-c plan_cache_mode=force_generic_plan',
      '-c timezone=UTC',
      // Only a transaction with READ WRITE can write. A statement that was sent after a failed BEGIN is therefore
      // refused.
      '-c default_transaction_read_only=on',
    ].join(' '),
  };
}

/** The parameters of a transaction behind a pooler. Its statements have no names, so each is planned for its values. */
export function pooledParameters(config: PostgresConfig): Readonly<Record<string, string>> {
  return {
    statement_timeout: `${config.databaseStatementTimeoutMs}ms`,
    lock_timeout: `${config.databaseLockTimeoutMs}ms`,
    idle_in_transaction_session_timeout: `${IDLE_IN_TRANSACTION_MS}ms`,
    timezone: 'UTC',
  };
}

/** The options for changes of the schema, which have no time limit. */
export function withoutTimeouts(options: PostgresDataSourceOptions): PostgresDataSourceOptions {
  const extra = {
    ...(options.extra as object),
    statement_timeout: 0,
    query_timeout: 0,
    lock_timeout: 0,
    idle_in_transaction_session_timeout: 0,
    options: '-c timezone=UTC',
    pipeline: false,
  };
  return { ...options, extra, poolSize: 1 };
}

/** TypeORM's connection to PostgreSQL. Integers of its schema have 64 bits, and text is compared byte by byte. */
export class PostgresDataSource extends DataSource {
  protected override async buildMetadatas(): Promise<void> {
    await super.buildMetadatas();
    for (const metadata of this.entityMetadatas) widen(metadata);
  }
}

function widen({ columns }: EntityMetadata): void {
  for (const column of columns) {
    if (column.type === 'integer') column.type = 'bigint';
    else column.collation = COLLATION;
  }
}
