import type { DataSource, DataSourceOptions } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions';
import type { Access, DatabaseEngine, OnFault, OpenDatabase } from './database.engine';
import { PostgresDataSource, type PostgresConfig, postgresOptions } from './postgres.options';
import { PostgresSchemaSource } from './postgres.schema-source';
import { PostgresUnitOfWork } from './postgres.unit-of-work';
import { bringUpToDate } from './schema-version';

/** A PostgreSQL server of version 14 or later, shared by any number of processes. */
export class PostgresEngine implements DatabaseEngine {
  readonly options: PostgresDataSourceOptions;
  readonly place: string;

  constructor(url: string, config: PostgresConfig) {
    this.options = postgresOptions(url, config);
    const { hostname, port, pathname } = new URL(url);
    this.place = `PostgreSQL, ${hostname}${port && `:${port}`}${pathname}`;
  }

  schemaSource(options: DataSourceOptions): DataSource {
    return new PostgresSchemaSource(options as PostgresDataSourceOptions, this.place);
  }

  async open(options: DataSourceOptions, access: Access, onFault: OnFault): Promise<OpenDatabase> {
    await this.prepareSchema(options, access);
    const source = new PostgresDataSource({
      ...(options as PostgresDataSourceOptions),
      poolErrorHandler: onFault,
    });
    await source.initialize();
    const unitOfWork = new PostgresUnitOfWork(source, onFault);
    return { source, unitOfWork, close: () => unitOfWork.drained().then(() => unitOfWork.close()) };
  }

  private async prepareSchema(options: DataSourceOptions, access: Access): Promise<void> {
    const schema = this.schemaSource(options);
    await schema.initialize();
    try {
      await bringUpToDate(schema, access);
    } finally {
      await schema.destroy();
    }
  }
}
