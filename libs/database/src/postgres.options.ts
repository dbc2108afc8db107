import type { Config } from '@app/kernel';

import { type PoolConfig, types } from 'pg';
import { DataSource, type EntityMetadata } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions';

/** Text is compared byte by byte, as SQLite does, whatever language the database was created for. */
export const COLLATION = 'C';

const INT8 = 20;
const NUMERIC = 1700;

/** Counts and sums as numbers: Lethe keeps none beyond 2^53. */
function getTypeParser(oid: number, format?: 'text'): (text: string) => unknown {
  return oid === INT8 || oid === NUMERIC
    ? Number
    : (types.getTypeParser(oid, format) as (text: string) => unknown);
}

export type PostgresConfig = Pick<
  Config,
  'databasePoolSize' | 'databaseStatementTimeoutMs' | 'databaseLockTimeoutMs'
>;

/** How long a transaction may wait for its unit to go on before the server ends it, in milliseconds. */
const IDLE_IN_TRANSACTION_MS = 30_000;

/**
 * What every connection needs: times in UTC, bounded waits, plans that are made once. `url` may carry what libpq
 * understands of TLS (`sslmode`, `sslrootcert`, …).
 */
export function postgresOptions(url: string, config: PostgresConfig): PostgresDataSourceOptions {
  return {
    type: 'postgres',
    url,
    poolSize: config.databasePoolSize,
    connectTimeoutMS: config.databaseLockTimeoutMs,
    installExtensions: false,
    extra: connectionOptions(config),
  };
}

function connectionOptions(config: PostgresConfig): Record<string, unknown> {
  return {
    application_name: 'lethe',
    keepAlive: true,
    statement_timeout: config.databaseStatementTimeoutMs,
    // The server's own answer comes first; this is for a server that gives none.
    query_timeout: config.databaseStatementTimeoutMs + 5_000,
    lock_timeout: config.databaseLockTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    options: [
      // Planning a statement on a partitioned table costs more than running it: the plan that prunes at run time is kept.
      '-c plan_cache_mode=force_generic_plan',
      '-c timezone=UTC',
      // What is written stands in a transaction that says READ WRITE: a statement that was sent behind a BEGIN which
      // failed is refused.
      '-c default_transaction_read_only=on',
    ].join(' '),
    types: { getTypeParser },
    pipeline: true,
  };
}

/** How long the reader of a streamed export may take in all, and a little more. */
const IDLE_IN_SNAPSHOT_MS = 150_000;

/** For transactions that wait for the reader of what they read. */
export function patient(options: PoolConfig): PoolConfig {
  return { ...options, idle_in_transaction_session_timeout: IDLE_IN_SNAPSHOT_MS };
}

/** For work on the schema, which may take as long as it takes. */
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

/** TypeORM's connection to PostgreSQL, whose schema is the entities' with 64-bit integers and bytewise text. */
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
