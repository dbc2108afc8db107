import { DataSource, type DataSourceOptions } from 'typeorm';
import type { Access, DatabaseEngine, OnFault, OpenDatabase } from './database.engine';
import { openForReading, openForWriting } from './sqlite.open';
import { foldLog, lockFile, requireWhole, sqliteOptions } from './sqlite.options';
import { SqliteReading } from './sqlite.reading';
import { SqliteTurnReader } from './sqlite.turn-reader';
import { SqliteConnection } from './sqlite.tx';
import { SqliteUnitOfWork } from './sqlite.unit-of-work';

/** One SQLite file, held by one process; beside that one others may read. */
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

  async open(options: DataSourceOptions, access: Access, onFault: OnFault): Promise<OpenDatabase> {
    if (access === 'read') {
      requireWhole(this.path);
      const readOnly = { ...options, ...sqliteOptions(this.path, 'read') } as DataSourceOptions;
      return this.connected(await openForReading(new DataSource(readOnly)), SqliteReading, onFault);
    }
    const release = lockFile(this.path);
    const source = await openForWriting(new DataSource(options), access === 'migrate');
    const open = await this.connected(source, SqliteUnitOfWork, onFault);
    return {
      ...open,
      close: async () => {
        await open.close();
        foldLog(this.path);
        release();
      },
    };
  }

  private async connected(
    source: DataSource,
    Units: typeof SqliteUnitOfWork,
    onFault: OnFault,
  ): Promise<OpenDatabase> {
    const openReader = async (): Promise<SqliteConnection> => {
      const readOnly = { ...sqliteOptions(this.path, 'read'), entities: source.options.entities };
      return new SqliteConnection(await new DataSource(readOnly).initialize());
    };
    const reader = await openReader();
    const turnReader = await openReader();
    const reads = new SqliteTurnReader(turnReader);
    const unitOfWork = new Units(new SqliteConnection(source), reader, reads, openReader, onFault);
    return {
      source,
      unitOfWork,
      close: async () => {
        await unitOfWork.drained();
        reads.close();
        for (const { dataSource } of [reader, turnReader]) await dataSource.destroy();
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
