import { DynamicModule, Global, Injectable, Logger, Module, OnApplicationShutdown } from '@nestjs/common';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import { Config, CONFIG, Degradations, describeFault, Metrics, OwnError } from '@app/kernel';
import type { DataSourceOptions, EntityTarget, MigrationInterface, ObjectLiteral } from 'typeorm';
import { isDamage } from './database-faults';
import type { Access, DatabaseEngine, OnFault, OpenDatabase } from './database.engine';
import { DiskWatch } from './sqlite.ballast';
import { PostgresEngine } from './postgres.engine';
import { directClient } from './postgres.options';
import { NO_SIGNALS, PostgresSignals, Signals } from './signals';
import { SqliteEngine } from './sqlite.engine';
import { UnitOfWork } from './unit-of-work';

/** The options of TypeORM, from ormconfig.ts. */
type OptionsOf = (config: Config) => DataSourceOptions;

const DATABASE_FAULT =
  'The database reported a fault; requests that it concerns are answered 503 and can be repeated';

/** The name in {@link Degradations} from the first damaged page until the process ends. */
const DATABASE_DAMAGED = 'database_damaged';

const DAMAGE =
  'The database has a damaged page, and what is stored on it cannot be read. Stop the service, keep its files, and restore a backup. ' +
  'Until the next start /health/ready says degraded';

export type MigrationClass = new () => MigrationInterface;

/** The class name of a migration ends with its time in milliseconds, which has this many digits. */
const TIME_DIGITS = 13;

const migrations = new Set<MigrationClass>();

/** The migrations of every loaded module, in the order of the times in their names, which is the order of execution. */
export function allMigrations(): MigrationClass[] {
  const time = ({ name }: MigrationClass): number => Number(name.slice(-TIME_DIGITS));
  return [...migrations].sort((a, b) => time(a) - time(b));
}

/** The engine that `DATABASE_URL` names. */
export function databaseEngine(config: Config): DatabaseEngine {
  const { database } = config;
  return database.engine === 'sqlite'
    ? new SqliteEngine(database.path, config.databaseBallastMiB * 2 ** 20)
    : new PostgresEngine(database.url, config);
}

/** The open database. Nest creates it before the providers that use it and closes it last. */
@Injectable()
class DatabaseLifecycle implements OnApplicationShutdown {
  database: OpenDatabase | undefined;

  async onApplicationShutdown(): Promise<void> {
    await this.database?.close();
  }
}

@Global()
@Module({})
export class DatabaseModule {
  /**
   * Opens the configured database and provides the {@link UnitOfWork}. Without `access` the configuration decides
   * whether the schema is brought up to date.
   */
  static forRoot(
    options: OptionsOf = (config) => databaseEngine(config).options,
    access?: Access,
  ): DynamicModule {
    const lifecycle = new DatabaseLifecycle();
    return {
      module: DatabaseModule,
      imports: [typeorm(lifecycle, options, access)],
      providers: [
        { provide: DatabaseLifecycle, useValue: lifecycle },
        {
          provide: UnitOfWork,
          inject: [Metrics, getDataSourceToken()],
          useFactory: (metrics: Metrics) => lifecycle.database?.unitOfWork.observedBy(metrics),
        },
        {
          provide: DiskWatch,
          inject: [CONFIG, Degradations, Metrics, UnitOfWork],
          useFactory: (config: Config, degradations: Degradations, metrics: Metrics) =>
            new DiskWatch(lifecycle.database?.ballast, config, degradations, metrics),
        },
        // Signals connect after the database is open, so that an unreachable server is reported once, in readable
        // words.
        { provide: Signals, inject: [CONFIG, UnitOfWork], useFactory: signals },
      ],
      exports: [UnitOfWork, Signals, DiskWatch],
    };
  }

  /** Registers a module's entities, and the migrations that create their tables. */
  static forFeature(entities: EntityTarget<ObjectLiteral>[], brought: MigrationClass[] = []): DynamicModule {
    for (const migration of brought) migrations.add(migration);
    return TypeOrmModule.forFeature(entities as Parameters<typeof TypeOrmModule.forFeature>[0]);
  }
}

function signals(config: Config): Signals {
  const { database } = config;
  if (database.engine === 'sqlite') return NO_SIGNALS;
  const logger = new Logger('Signals');
  return new PostgresSignals(directClient(database.url, config), (error) =>
    logger.warn(
      'The connection for wake-ups between processes failed and is opened again; until then work of other processes is found by polling',
      describeFault(error),
    ),
  );
}

function typeorm(
  lifecycle: DatabaseLifecycle,
  optionsOf: OptionsOf,
  given: Access | undefined,
): DynamicModule {
  const logger = new Logger('Database');
  let engine: DatabaseEngine;
  let access: Access = 'migrate';
  let onFault: OnFault;
  return TypeOrmModule.forRootAsync({
    inject: [CONFIG, Degradations],
    useFactory: (config: Config, degradations: Degradations) => {
      onFault = faultsOf(logger, degradations);
      engine = databaseEngine(config);
      access = given ?? (config.migrateOnStart ? 'migrate' : 'check');
      // A failed start is not tried again by Nest: the process manager starts the process again.
      return {
        ...optionsOf(config),
        autoLoadEntities: true,
        migrations: allMigrations(),
        // Without this, @nestjs/typeorm logs that it tries again.
        toRetry: () => false,
      };
    },
    dataSourceFactory: async (options) => {
      if (options === undefined) throw new OwnError('The options of the database are missing');
      lifecycle.database = await engine.open(options, access, onFault);
      return lifecycle.database.source;
    },
  });
}

/** Writes faults to the log, damage only once, since every statement may meet it. */
function faultsOf(logger: Logger, degradations: Degradations): OnFault {
  return (error) => {
    if (!isDamage(error))
      return logger.error(error instanceof OwnError ? error.message : DATABASE_FAULT, describeFault(error));
    if (degradations.note(DATABASE_DAMAGED, true)) logger.error(DAMAGE, describeFault(error));
  };
}
