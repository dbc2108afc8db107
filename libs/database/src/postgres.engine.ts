import { StartError } from '@app/kernel';
import { DataSource, type DataSourceOptions } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions';
import {
  type Access,
  bringUpToDate,
  type DatabaseEngine,
  type OnFault,
  type OpenDatabase,
  opened,
} from './database.engine';
import {
  directClient,
  placeOf,
  type PostgresConfig,
  PostgresDataSource,
  postgresOptions,
} from './postgres.options';
import { PostgresSchemaSource } from './postgres.schema-source';
import { withReason } from './postgres.start-faults';
import { PostgresReading, PostgresUnitOfWork } from './postgres.unit-of-work';

/** A PostgreSQL server of version 14 or later, shared by any number of processes. */
export class PostgresEngine implements DatabaseEngine {
  readonly options: PostgresDataSourceOptions;
  readonly place: string;

  constructor(
    private readonly url: string,
    private readonly config: PostgresConfig,
  ) {
    this.options = postgresOptions(url, config);
    this.place = placeOf(url);
  }

  schemaSource(options: DataSourceOptions): DataSource {
    const given = options as PostgresDataSourceOptions;
    const { databaseDirectUrl: direct } = this.config;
    return direct === undefined
      ? new PostgresSchemaSource(given, this.url, 'DATABASE_URL')
      : new PostgresSchemaSource(given, direct, 'DATABASE_DIRECT_URL', (source) => this.requireSame(source));
  }

  /** The disk is that of the server. */
  despiteFullDisk<T>(work: () => Promise<T>): Promise<T> {
    return work();
  }

  async open(options: DataSourceOptions, access: Access, onFault: OnFault): Promise<OpenDatabase> {
    // Migrations use no entities, and building the metadata of all of them is a part of every start.
    await opened(this.schemaSource({ ...options, entities: [] }), (schema) => bringUpToDate(schema, access));
    const source = new PostgresDataSource({
      ...(options as PostgresDataSourceOptions),
      poolErrorHandler: onFault,
    });
    await source.initialize();
    const Units = access === 'read' || access === 'moved' ? PostgresReading : PostgresUnitOfWork;
    const unitOfWork = new Units(source, directClient(this.url, this.config), onFault);
    return { source, unitOfWork, close: () => unitOfWork.close() };
  }

  /** @throws StartError when the pooler leads to another database than the one that `direct` is connected to */
  private async requireSame(direct: DataSource): Promise<void> {
    const theirs = await withReason(this.place, 'DATABASE_URL', () =>
      opened(new DataSource(this.options), serverOf),
    );
    if (theirs === (await serverOf(direct))) return;
    throw new StartError(
      `DATABASE_URL (${this.place}) does not lead to the database of DATABASE_DIRECT_URL. Correct one of them.`,
    );
  }
}

/** What tells a running server and its database from others. */
async function serverOf(source: DataSource): Promise<string> {
  const sql = 'SELECT pg_postmaster_start_time() AS begun, current_database() AS name';
  const [row] = await source.query<{ begun: Date; name: string }[]>(sql);
  return `${row?.begun.toISOString()} ${row?.name}`;
}
