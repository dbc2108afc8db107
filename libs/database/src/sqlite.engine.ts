import { DataSource, type DataSourceOptions } from 'typeorm';
import type { DatabaseEngine, OnFault, OpenDatabase } from './database.engine';
import { openForWriting } from './sqlite.open';
import { foldLog, lockFile, sqliteOptions } from './sqlite.options';
import { SqliteTurnReader } from './sqlite.turn-reader';
import { SqliteConnection } from './sqlite.tx';
import { SqliteUnitOfWork } from './sqlite.unit-of-work';

/** One SQLite file, held by one process. */
export class SqliteEngine implements DatabaseEngine {
  readonly options: DataSourceOptions;
  readonly place: string;

  constructor(private readonly path: string) {
    this.options = sqliteOptions(path, 'write');
    this.place = `SQLite, ${path}`;
  }

  schemaSource(options: DataSourceOptions): DataSource {
    return new LockedFileSource(options, this.path);
  }

  async open(options: DataSourceOptions, migrate: boolean, onFault: OnFault): Promise<OpenDatabase> {
    const release = lockFile(this.path);
    const source = await openForWriting(new DataSource(options), migrate);
    const openReader = async (): Promise<SqliteConnection> => {
      const readOnly = { ...sqliteOptions(this.path, 'read'), entities: source.options.entities };
      return new SqliteConnection(await new DataSource(readOnly).initialize());
    };
    const reader = await openReader();
    const turnReader = await openReader();
    const reads = new SqliteTurnReader(turnReader);
    const unitOfWork = new SqliteUnitOfWork(new SqliteConnection(source), reader, reads, openReader, onFault);
    return {
      source,
      unitOfWork,
      close: async () => {
        await unitOfWork.drained();
        reads.close();
        for (const { dataSource } of [reader, turnReader]) await dataSource.destroy();
        foldLog(this.path);
        release();
      },
    };
  }
}

/** Holds the file as the service does, so that no schema is changed beneath a running one. */
class LockedFileSource extends DataSource {
  constructor(
    options: DataSourceOptions,
    private readonly path: string,
  ) {
    super(options);
  }

  private release = (): void => undefined;

  override async initialize(): Promise<this> {
    this.release = lockFile(this.path);
    return super.initialize().catch((error: unknown) => {
      this.release();
      throw error;
    });
  }

  override async destroy(): Promise<void> {
    await super.destroy();
    this.release();
  }
}
