import { DynamicModule, Global, Injectable, Logger, Module, OnApplicationShutdown } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import { CONFIG, Config, describeFault } from '@app/common';
import { DataSource, type EntityTarget, type MigrationInterface, type ObjectLiteral } from 'typeorm';
import { LETHE_MIGRATIONS } from './migrations';
import { openForWriting } from './sqlite.open';
import { foldLog, lockFile, sqliteOptions } from './sqlite.options';
import { SqliteTurnReader } from './sqlite.turn-reader';
import { SqliteConnection } from './sqlite.tx';
import { SqliteUnitOfWork } from './sqlite.unit-of-work';
import { SubjectDataHolders } from './subject-data';
import { UnitOfWork } from './unit-of-work';

type MigrationClass = new () => MigrationInterface;

/** Lethe's migrations and those that further modules have brought; TypeORM runs them in the order of their times. */
const migrations = new Set<MigrationClass>(LETHE_MIGRATIONS);

export function allMigrations(): MigrationClass[] {
  return [...migrations];
}

/** Closes the connections last, after everything that uses them. */
@Injectable()
class DatabaseLifecycle implements OnApplicationShutdown {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly close: () => Promise<void>,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    if (this.unitOfWork instanceof SqliteUnitOfWork) await this.unitOfWork.drained();
    await this.close();
  }
}

@Global()
@Module({})
export class DatabaseModule {
  /** Opens the configured database, brings its schema up to date and provides the {@link UnitOfWork}. */
  static forRoot(): DynamicModule {
    const logger = new Logger('Database');
    let release = (): void => undefined;
    let path: string | undefined;
    const readers: DataSource[] = [];
    return {
      module: DatabaseModule,
      imports: [
        DiscoveryModule,
        TypeOrmModule.forRootAsync({
          inject: [CONFIG],
          useFactory: ({ database, migrateOnStart }: Config) => ({
            ...sqliteOptions(database.path, 'write'),
            autoLoadEntities: true,
            migrations: allMigrations(),
            migrationsRun: migrateOnStart,
            // The file is locked for this process: a failed start is not tried again.
            retryAttempts: 0,
          }),
          dataSourceFactory: async (options) => {
            if (options?.type !== 'better-sqlite3')
              throw new Error('DATABASE_URL names an engine that is not supported');
            path = options.database;
            release = lockFile(path);
            return openForWriting(
              new DataSource({ ...options, migrationsRun: false }),
              options.migrationsRun ?? true,
            );
          },
        }),
      ],
      providers: [
        SubjectDataHolders,
        {
          provide: UnitOfWork,
          inject: [getDataSourceToken()],
          useFactory: async (source: DataSource) => {
            const openReader = async (): Promise<SqliteConnection> => {
              const options = sqliteOptions(source.options.database as string, 'read');
              return new SqliteConnection(
                await new DataSource({ ...options, entities: source.options.entities }).initialize(),
              );
            };
            const reader = await openReader();
            const turnReader = await openReader();
            readers.push(reader.dataSource, turnReader.dataSource);
            return new SqliteUnitOfWork(
              new SqliteConnection(source),
              reader,
              new SqliteTurnReader(turnReader),
              openReader,
              (error) => logger.error(JSON.stringify(describeFault(error))),
            );
          },
        },
        {
          provide: DatabaseLifecycle,
          inject: [UnitOfWork],
          useFactory: (unitOfWork: UnitOfWork) =>
            new DatabaseLifecycle(unitOfWork, async () => {
              for (const reader of readers) await reader.destroy();
              if (path !== undefined) foldLog(path);
              release();
            }),
        },
      ],
      exports: [UnitOfWork, SubjectDataHolders],
    };
  }

  /** Registers a module's entities, and the migrations that create their tables. */
  static forFeature(entities: EntityTarget<ObjectLiteral>[], brought: MigrationClass[] = []): DynamicModule {
    for (const migration of brought) migrations.add(migration);
    return TypeOrmModule.forFeature(entities as Parameters<typeof TypeOrmModule.forFeature>[0]);
  }
}
