import { Client } from 'pg';
import type { DataSource, DataSourceOptions, Migration } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions';
import { driverCode } from './database-faults';
import type { DatabaseEngine, OnFault, OpenDatabase } from './database.engine';
import {
  PostgresDataSource,
  type PostgresConfig,
  postgresOptions,
  withoutTimeouts,
} from './postgres.options';
import { PostgresUnitOfWork } from './postgres.unit-of-work';
import { bringUpToDate } from './schema-version';
import { StartError } from './start-error';

/** The advisory lock that whoever changes the schema holds: any number that nothing else in the database uses. */
const SCHEMA_LOCK = 5_138_008_101;
const OLDEST_VERSION = 140_000;

/** A PostgreSQL server, 14 or later, shared by any number of processes. */
export class PostgresEngine implements DatabaseEngine {
  readonly options: PostgresDataSourceOptions;
  readonly place: string;

  constructor(url: string, config: PostgresConfig) {
    this.options = postgresOptions(url, config);
    const { hostname, port, pathname } = new URL(url);
    this.place = `PostgreSQL, ${hostname}${port && `:${port}`}${pathname}`;
  }

  schemaSource(options: DataSourceOptions): DataSource {
    return new SchemaSource(withoutTimeouts(options as PostgresDataSourceOptions));
  }

  async open(options: DataSourceOptions, migrate: boolean, onFault: OnFault): Promise<OpenDatabase> {
    await this.prepareSchema(options, migrate);
    const source = new PostgresDataSource({
      ...(options as PostgresDataSourceOptions),
      poolErrorHandler: onFault,
    });
    await source.initialize();
    const unitOfWork = new PostgresUnitOfWork(source, onFault);
    return { source, unitOfWork, close: () => unitOfWork.drained().then(() => unitOfWork.close()) };
  }

  private async prepareSchema(options: DataSourceOptions, migrate: boolean): Promise<void> {
    const schema = this.schemaSource(options);
    try {
      await schema.initialize();
      await requireVersion(schema);
      await bringUpToDate(schema, migrate);
    } catch (error) {
      throw this.readable(error);
    } finally {
      if (schema.isInitialized) await schema.destroy();
    }
  }

  private readable(error: unknown): unknown {
    if (error instanceof StartError) return error;
    const code = driverCode(error);
    const reasons: Readonly<Record<string, string>> = {
      ECONNREFUSED: 'nobody listens there',
      ENOTFOUND: 'there is no such host',
      '28P01': 'the password is wrong',
      '28000': 'the server refuses this user',
      '3D000': 'there is no such database: create it first',
      '42501':
        'the user may not create tables: grant it CREATE on the schema public, or run the migrations as its owner',
    };
    const reason = reasons[code] ?? (/^(E[A-Z]+|08\w{3}|53\w{3}|57P03)$/.test(code) ? code : undefined);
    if (reason === undefined) return error;
    return new StartError(`The database (${this.place}) cannot be used: ${reason}. Check DATABASE_URL.`);
  }
}

async function requireVersion(source: DataSource): Promise<void> {
  const [row] = await source.query<{ server_version_num: string }[]>('SHOW server_version_num');
  if (Number(row?.server_version_num) < OLDEST_VERSION)
    throw new StartError('The PostgreSQL server is too old: Lethe needs version 14 or later.');
}

/** Of any number that change the schema at once, one does it at a time, and the others find it done. */
class SchemaSource extends PostgresDataSource {
  override runMigrations(options?: Parameters<DataSource['runMigrations']>[0]): Promise<Migration[]> {
    return this.alone(() => super.runMigrations(options));
  }

  override undoLastMigration(options?: Parameters<DataSource['undoLastMigration']>[0]): Promise<void> {
    return this.alone(() => super.undoLastMigration(options));
  }

  private async alone<T>(work: () => Promise<T>): Promise<T> {
    const { url } = this.options as PostgresDataSourceOptions;
    const client = new Client({ connectionString: url, application_name: 'lethe-schema' });
    await client.connect();
    try {
      await client.query('SELECT pg_advisory_lock($1)', [SCHEMA_LOCK]);
      return await work();
    } finally {
      // The lock goes with its connection.
      await client.end();
    }
  }
}
