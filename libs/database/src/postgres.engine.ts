import { postgresPlaces } from '@app/kernel';
import type { DataSource, DataSourceOptions } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions';
import type { Access, DatabaseEngine, OnFault, OpenDatabase } from './database.engine';
import { DIRECT, pooledBeginnings } from './postgres.beginnings';
import {
  directConnection,
  directOptions,
  PostgresDataSource,
  type PostgresConfig,
  pooledParameters,
  postgresOptions,
  standbyConnection,
} from './postgres.options';
import { requireFaithfulPooler } from './postgres.pooler';
import { PostgresSchemaSource } from './postgres.schema-source';
import { PostgresUnitOfWork, type PostgresRoutes } from './postgres.unit-of-work';
import { bringUpToDate } from './schema-version';

/** A PostgreSQL server of version 14 or later, shared by any number of processes. */
export class PostgresEngine implements DatabaseEngine {
  readonly options: PostgresDataSourceOptions;
  readonly place: string;
  private readonly direct: PostgresDataSourceOptions;

  constructor(
    private readonly url: string,
    private readonly config: PostgresConfig,
  ) {
    this.options = postgresOptions(url, config);
    this.direct = directOptions(url, config);
    this.place = placeOf(config.databaseDirect ?? url);
  }

  /** Through no pooler, since a change of the schema holds a lock of its session. */
  schemaSource(options: DataSourceOptions): DataSource {
    return new PostgresSchemaSource(
      { ...(options as PostgresDataSourceOptions), ...this.direct },
      this.place,
    );
  }

  async open(options: DataSourceOptions, access: Access, onFault: OnFault): Promise<OpenDatabase> {
    await this.prepareSchema(options, access);
    const source = new PostgresDataSource({
      ...(options as PostgresDataSourceOptions),
      poolErrorHandler: onFault,
    });
    const routes = this.routes();
    if (routes.beginnings.isPooled)
      await requireFaithfulPooler(this.options, this.config, routes, placeOf(this.url));
    await source.initialize();
    const unitOfWork = new PostgresUnitOfWork(source, onFault, routes);
    return {
      source,
      unitOfWork,
      useStandby: async (onAway) => unitOfWork.standby?.start(onAway),
      close: () => unitOfWork.drained().then(() => unitOfWork.close()),
    };
  }

  private routes(): PostgresRoutes {
    const { url, config } = this;
    const { databaseDirect, databaseRead, databaseLockTimeoutMs } = config;
    return {
      beginnings:
        databaseDirect === undefined
          ? DIRECT
          : pooledBeginnings(pooledParameters(config), databaseLockTimeoutMs),
      direct: directConnection(url, config),
      ...(databaseRead !== undefined && { standby: standbyConnection(databaseRead, config) }),
    };
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

/** The servers and the database of a URL, without a password. */
function placeOf(url: string): string {
  const { url: first, places } = postgresPlaces(url);
  const { hostname, port, pathname } = new URL(first);
  const hosts = places.map((place) => `${place.host}:${place.port}`).join(',');
  return `PostgreSQL, ${places.length > 1 ? hosts : `${hostname}${port && `:${port}`}`}${pathname}`;
}
