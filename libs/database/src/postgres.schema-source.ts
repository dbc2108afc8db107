import { type DataSource, type Migration, MigrationExecutor, type QueryRunner } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions';
import { StartError } from '@app/kernel';
import { driverCode, isConnectionLost } from './database-faults';
import { PostgresDataSource, withoutTimeouts } from './postgres.options';

/** The advisory lock that whoever changes the schema holds: any number that nothing else in the database uses. */
const SCHEMA_LOCK = 5_138_008_101;
/** How long somebody else's lock is waited for. */
const LOCK_WAIT_MS = 3_000;
const OLDEST_VERSION = 140_000;

/**
 * Changes the schema of a PostgreSQL database. Of any number that do so at once, one does it at a time, and the others
 * find it done. The lock is held by the connection that does the work: neither outlives the other.
 * @throws StartError, without a password, where the operator can mend what is wrong.
 */
export class PostgresSchemaSource extends PostgresDataSource {
  constructor(
    options: PostgresDataSourceOptions,
    private readonly place: string,
  ) {
    const patient = withoutTimeouts(options);
    super({ ...patient, extra: { ...(patient.extra as object), application_name: 'lethe-schema' } });
  }

  private holder: QueryRunner | undefined;

  override async initialize(): Promise<this> {
    return this.told(async () => {
      await super.initialize();
      await requireVersion(this).catch(async (error: unknown) => {
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

  /** Keeps everybody else from changing the schema until this source is destroyed; false when somebody does so now. */
  async lock(): Promise<boolean> {
    this.holder = this.createQueryRunner();
    try {
      // The connection of a process that was killed takes a moment to end.
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
    return this.told(async () => {
      const runner = this.createQueryRunner();
      const executor = new MigrationExecutor(this, runner);
      executor.transaction = options.transaction ?? 'all';
      executor.fake = options.fake ?? false;
      try {
        await runner.query('SELECT pg_advisory_lock($1)', [SCHEMA_LOCK]);
        try {
          return await work(executor);
        } finally {
          await runner.query('SELECT pg_advisory_unlock($1)', [SCHEMA_LOCK]).catch(() => undefined);
        }
      } finally {
        await runner.release();
      }
    });
  }

  private async told<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const reason = error instanceof StartError ? undefined : reasonOf(error);
      if (reason === undefined) throw error;
      throw new StartError(`The database (${this.place}) cannot be used: ${reason}`);
    }
  }
}

async function requireVersion(source: DataSource): Promise<void> {
  const [row] = await source.query<{ server_version_num: string }[]>('SHOW server_version_num');
  if (Number(row?.server_version_num) < OLDEST_VERSION)
    throw new StartError(
      'The PostgreSQL server is too old: Lethe needs version 14 or later. Upgrade it, or name another one with DATABASE_URL.',
    );
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there. Start the server, or correct DATABASE_URL.',
  ENOTFOUND: 'there is no such host. Correct DATABASE_URL.',
  EAI_AGAIN: 'the name of the host could not be looked up. Try again, or correct DATABASE_URL.',
  '28P01': 'user or password is wrong. Correct DATABASE_URL; special characters have to be percent-encoded.',
  '28000':
    'the server does not let this user in from here. Correct DATABASE_URL, or the pg_hba.conf of the server.',
  '3D000': 'there is no such database. Create it with CREATE DATABASE, or correct DATABASE_URL.',
  '42501':
    'the user may not change the schema. Grant it CREATE on the database and on the schema public, or run npm run admin -- db:migrate as the owner of the tables.',
  '53300': 'it has no connection left. Raise max_connections, or lower DATABASE_POOL_SIZE.',
  '57P03': 'it is starting up or shutting down. Try again.',
};

/** What is wrong and how to mend it; undefined for what no operator can mend. */
function reasonOf(error: unknown): string | undefined {
  const code = driverCode(error);
  const known = REASONS[code];
  if (known !== undefined) return known;
  if (/CERT|TLS|SSL|UNABLE_TO/.test(code) || /support SSL/.test(String((error as Error).message)))
    return `no secure connection (${code || 'the server offers no TLS'}). Check sslmode and sslrootcert in DATABASE_URL.`;
  if (/^(53|57)/.test(code)) return `the server gave up (${code}). Nothing was changed; try again.`;
  if (isConnectionLost(error))
    return `the connection ended${code && ` (${code})`}. What was under way is undone; try again.`;
  return undefined;
}
