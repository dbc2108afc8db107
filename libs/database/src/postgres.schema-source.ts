import { setTimeout as pause } from 'node:timers/promises';
import { type DataSource, type Logger, type Migration, MigrationExecutor, type QueryRunner } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions';
import { StartError } from '@app/kernel';
import { driverCode, isConnectionLost } from './database-faults';
import { processOf } from './postgres.client';
import { PostgresDataSource, withoutTimeouts } from './postgres.options';
import { WRONG_SERVER } from './postgres.servers';

/** The advisory lock for changes of the schema. The number is arbitrary; nothing else in the database uses it. */
const SCHEMA_LOCK = 5_138_008_101;
/** How long to wait for the lock of another process, in milliseconds. */
const LOCK_WAIT_MS = 3_000;
const OLDEST_VERSION = 140_000;
/** Where nothing else is configured: how long the service waits for a lock, in milliseconds. */
const SERVICE_WAIT_MS = 5_000;
/** How often, and how long, migrations are tried again that other transactions keep from a table, in milliseconds. */
const AGAIN_AFTER_MS = 500;
const AGAIN_FOR_MS = 300_000;
/** A lock that was not granted in time, and one that was given up for another transaction. */
const LOCKED_OUT = ['55P03', '40P01'];

/**
 * Changes the schema of a PostgreSQL database. Processes change the schema one at a time; the later ones find the work
 * done. The connection that does the work holds the lock, so the lock ends with the work.
 * @throws StartError, without a password, for faults that the operator can correct.
 */
export class PostgresSchemaSource extends PostgresDataSource {
  /**
   * How long a statement of a migration waits for a table. Everything else that needs the table queues behind it, so this
   * is a small part of the time after which the service refuses a request.
   */
  private readonly tableWaitMs: number;

  constructor(
    options: PostgresDataSourceOptions,
    private readonly place: string,
  ) {
    const patient = withoutTimeouts(options);
    super({ ...patient, extra: { ...(patient.extra as object), application_name: 'lethe-schema' } });
    const { lock_timeout: waitMs = SERVICE_WAIT_MS } = (options.extra ?? {}) as { lock_timeout?: number };
    this.tableWaitMs = Math.ceil(waitMs / 5);
  }

  private holder: QueryRunner | undefined;

  override async initialize(): Promise<this> {
    return this.withReason(async () => {
      await super.initialize();
      await requireVersion(this)
        .then(() => requireServer(this))
        .catch(async (error: unknown) => {
          await this.destroy();
          throw error;
        });
      return this;
    });
  }

  override runMigrations(options?: Parameters<DataSource['runMigrations']>[0]): Promise<Migration[]> {
    return this.alone((executor) => executor.executePendingMigrations(), options);
  }

  override undoLastMigration(options?: Parameters<DataSource['undoLastMigration']>[0]): Promise<void> {
    return this.alone((executor) => executor.undoLastMigration(), options);
  }

  /**
   * Excludes other processes from changing the schema until this source is destroyed. Resolves to false when another
   * process is changing it now.
   */
  async lock(): Promise<boolean> {
    this.holder = this.createQueryRunner();
    try {
      // The connection of a killed process takes a moment to end.
      await this.holder.query(`SET lock_timeout = '${LOCK_WAIT_MS}ms'`);
      await this.holder.query('SELECT pg_advisory_lock($1)', [SCHEMA_LOCK]);
      return true;
    } catch (error) {
      if (driverCode(error) === '55P03') return false;
      throw error;
    }
  }

  override async destroy(): Promise<void> {
    await this.holder?.release();
    await super.destroy();
  }

  private alone<T>(
    work: (executor: MigrationExecutor) => Promise<T>,
    options: Parameters<DataSource['runMigrations']>[0] = {},
  ): Promise<T> {
    return this.withReason(async () => {
      const runner = this.createQueryRunner();
      const executor = new MigrationExecutor(this, runner);
      executor.transaction = options.transaction ?? 'all';
      executor.fake = options.fake ?? false;
      try {
        await runner.query('SELECT pg_advisory_lock($1)', [SCHEMA_LOCK]);
        try {
          return await this.patiently(runner, () => work(executor));
        } finally {
          await runner.query('SET lock_timeout = 0').catch(() => undefined);
          await runner.query('SELECT pg_advisory_unlock($1)', [SCHEMA_LOCK]).catch(() => undefined);
        }
      } finally {
        await runner.release();
      }
    });
  }

  /**
   * Runs `work`, which is one transaction, again while other transactions keep it from a table. A migration that waited
   * for its lock until it came would stop the requests of every process meanwhile.
   */
  private async patiently<T>(runner: QueryRunner, work: () => Promise<T>): Promise<T> {
    await runner.query(`SET lock_timeout = '${this.tableWaitMs}ms'`);
    // TypeORM would write a line to the output for each try. What fails for good is thrown.
    this.logger = Object.assign(Object.create(this.logger) as Logger, { logMigration: () => undefined });
    const untilMs = performance.now() + AGAIN_FOR_MS;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!LOCKED_OUT.includes(driverCode(error))) throw error;
        if (performance.now() > untilMs) throw heldUp();
        await pause(AGAIN_AFTER_MS);
      }
    }
  }

  private async withReason<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const reason = error instanceof StartError ? undefined : reasonOf(error);
      if (reason === undefined) throw error;
      throw new StartError(`The database (${this.place}) cannot be used: ${reason}`);
    }
  }
}

function heldUp(): StartError {
  return new StartError(
    'Another transaction has held a table for minutes, for example of a copy of the database, and the schema was not changed. ' +
      'Wait for its end, or end it (pg_stat_activity shows it), then try again.',
  );
}

/** A lock of the session, wake-ups and parameters need the server itself. */
async function requireServer(source: DataSource): Promise<void> {
  const runner = source.createQueryRunner();
  try {
    const client: unknown = await runner.connect();
    const [row] = (await runner.query('SELECT pg_backend_pid() AS process')) as { process: number }[];
    if (Number(row?.process) !== processOf(client)) throw new StartError(BEHIND_A_POOLER);
  } finally {
    await runner.release();
  }
}

async function requireVersion(source: DataSource): Promise<void> {
  const [row] = await source.query<{ server_version_num: string }[]>('SHOW server_version_num');
  if (Number(row?.server_version_num) < OLDEST_VERSION)
    throw new StartError(
      'The PostgreSQL server is too old: Lethe needs version 14 or later. Upgrade it, or name another one with DATABASE_URL.',
    );
}

const BEHIND_A_POOLER =
  'A pooler such as PgBouncer is before the database. Set DATABASE_DIRECT_URL to the server itself, and leave DATABASE_URL at the pooler.';

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no server listens there. Start the server, or correct DATABASE_URL.',
  ENOTFOUND: 'the host does not exist. Correct DATABASE_URL.',
  EAI_AGAIN: 'the name of the host could not be looked up. Try again, or correct DATABASE_URL.',
  '28P01': 'user or password is wrong. Correct DATABASE_URL; special characters have to be percent-encoded.',
  '28000':
    'the server refuses this user from this address. Correct DATABASE_URL, or the pg_hba.conf of the server.',
  '3D000': 'the database does not exist. Create it with CREATE DATABASE, or correct DATABASE_URL.',
  '42501':
    'the user may not change the schema. Grant it CREATE on the database and on the schema public, or run lethe-server admin db:migrate as the owner of the tables.',
  '53300': 'the server has no free connection. Raise max_connections, or lower DATABASE_POOL_SIZE.',
  [WRONG_SERVER]: 'it accepts no writes, so it is a standby. Name the primary, or all servers after commas.',
  '57P03': 'the server is starting up or shutting down. Try again.',
};

/** The fault and its remedy; undefined for a fault that an operator cannot correct. */
function reasonOf(error: unknown): string | undefined {
  const code = driverCode(error);
  const known = REASONS[code];
  if (code === '08P01' && /startup parameter/.test(String((error as Error).message))) return BEHIND_A_POOLER;
  if (known !== undefined) return known;
  if (/CERT|TLS|SSL|UNABLE_TO/.test(code) || /support SSL/.test(String((error as Error).message)))
    return `no secure connection (${code || 'the server offers no TLS'}). Check sslmode and sslrootcert in DATABASE_URL.`;
  if (/^(53|57)/.test(code))
    return `the server cancelled the work (${code}). Nothing was changed; try again.`;
  if (isConnectionLost(error))
    return `the connection ended${code && ` (${code})`}. Unfinished work is undone; try again.`;
  return undefined;
}
