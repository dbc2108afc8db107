import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { isThere, StartError } from '@app/kernel';
import { driverCode, isDamage, isOfFullDisk } from './database-faults';
import {
  type Access,
  bringUpToDate,
  type DatabaseEngine,
  type OnFault,
  type OpenDatabase,
} from './database.engine';
import { keysPath } from './key-tables';
import { Ballast } from './sqlite.ballast';
import { OPENING_MS, SqliteDatabase } from './sqlite.driver';
import { SqliteConnection, SqliteKeys } from './sqlite.tx';
import { foldLog, lockFile, requireFilled, requireWhole, sqliteOptions } from './sqlite.options';
import { type SqliteReaders, SqliteReading, SqliteTurnReader } from './sqlite.reads';
import { SqliteUnitOfWork } from './sqlite.unit-of-work';

/**
 * Initialises the connection and brings the schema up to date, or only checks that it is, as `access` says. A damaged
 * file, or one of a newer Lethe, stays untouched.
 */
async function openSource(source: DataSource, access: Access): Promise<DataSource> {
  try {
    await source.initialize();
    await bringUpToDate(source, access);
    return source;
  } catch (error) {
    if (source.isInitialized) await source.destroy();
    throw error;
  }
}

/** The files cannot be used where they are: their content is not at fault. */
export class PlaceFault extends StartError {}

/** The error of an SQLite database that cannot be opened, as a {@link StartError} with the remedy where one is known. */
export function openingFault(error: unknown, path: string): unknown {
  const code = driverCode(error);
  if (/^SQLITE_(NOTADB|CORRUPT)/.test(code))
    return new StartError(
      `${damagedOf(path)} is damaged or no SQLite database. It was left untouched; restore a backup.`,
    );
  if (code.startsWith('SQLITE_BUSY'))
    return new PlaceFault(
      `Another program has locked ${path} or the keys beside it. End what writes it, then start again.`,
    );
  if (/^SQLITE_(IOERR|CANTOPEN|READONLY|FULL|PERM)/.test(code))
    return new PlaceFault(
      `${path} or the keys beside it cannot be read or written (${code}). Check the disk, its room, and the rights of the user that runs Lethe, then start again.`,
    );
  return error;
}

/** The damaged file: the keys, which are small and are checked, or else the data. */
function damagedOf(path: string): string {
  const keys = keysPath(path);
  try {
    const database = new SqliteDatabase(keys, { readonly: true, timeout: OPENING_MS });
    try {
      return database.pragma('quick_check(1)', { simple: true }) === 'ok' ? path : keys;
    } finally {
      database.close();
    }
  } catch (error) {
    return isDamage(error) ? keys : path;
  }
}

/** One SQLite file. One process holds it; others may read it at the same time. */
export class SqliteEngine implements DatabaseEngine {
  readonly options: DataSourceOptions;
  readonly place: string;

  constructor(
    private readonly path: string,
    private readonly ballastBytes: number,
  ) {
    this.options = sqliteOptions(path, 'write');
    this.place = `SQLite, ${path}`;
  }

  schemaSource(options: DataSourceOptions): DataSource {
    return new LockedFileSource(options, this.path);
  }

  async open(options: DataSourceOptions, access: Access, onFault: OnFault): Promise<OpenDatabase> {
    const opening = access === 'read' ? this.beside(options, onFault) : this.alone(options, access, onFault);
    return opening.catch((error: unknown) => {
      throw openingFault(error, resolve(this.path));
    });
  }

  private alone(options: DataSourceOptions, access: Access, report: OnFault): Promise<OpenDatabase> {
    return this.despiteFullDisk(async () => {
      const release = lockFile(this.path);
      let source: DataSource | undefined;
      try {
        source = await openSource(new DataSource(options), access);
        return await this.locked(source, report, release);
      } catch (error) {
        await source?.destroy().catch(() => undefined);
        release();
        throw error;
      }
    });
  }

  async despiteFullDisk<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!isOfFullDisk(error) || !this.makesRoom()) throw error;
    }
    return this.despiteFullDisk(work);
  }

  /** Whether a part of the ballast was released. Before the first start there is none, nor for a user who may not shorten it. */
  private makesRoom(): boolean {
    try {
      return [resolve(this.path), keysPath(resolve(this.path))].every(isThere) && this.ballast().release();
    } catch {
      return false;
    }
  }

  private async locked(source: DataSource, report: OnFault, release: () => void): Promise<OpenDatabase> {
    // From here on the keys have a connection of their own: no transaction is about both files.
    await source.query('DETACH DATABASE keys');
    const ballast = this.ballast();
    // Room that is made at the first fault helps what follows it.
    const onFault = (error: unknown): void => {
      report(error);
      ballast.release();
    };
    const unitOfWork = new SqliteUnitOfWork(
      new SqliteConnection(source),
      new SqliteKeys(keysPath(this.path), onFault),
      await this.readers(source),
      onFault,
      ballast,
    );
    return {
      source,
      ballast,
      unitOfWork,
      close: async () => {
        await unitOfWork.close();
        foldLog(this.path);
        release();
      },
    };
  }

  private async beside(options: DataSourceOptions, onFault: OnFault): Promise<OpenDatabase> {
    requireWhole(this.path);
    requireFilled(this.path);
    const readOnly = { ...options, ...sqliteOptions(this.path, 'read') } as DataSourceOptions;
    const source = await openSource(new DataSource(readOnly), 'read');
    const unitOfWork = new SqliteReading(await this.readers(source), onFault);
    return { source, unitOfWork, close: () => unitOfWork.close() };
  }

  /** Keys on a disk of their own have their own ballast. */
  private ballast(): Ballast {
    const [data, keys] = [resolve(this.path), keysPath(resolve(this.path))];
    const files = statSync(data).dev === statSync(keys).dev ? [data] : [data, keys];
    return new Ballast(files, this.ballastBytes);
  }

  private async readers({ options: { entities } }: DataSource): Promise<SqliteReaders> {
    const open = async (): Promise<SqliteConnection> => {
      const readOnly = { ...sqliteOptions(this.path, 'read'), entities };
      return new SqliteConnection(await new DataSource(readOnly).initialize());
    };
    return { reader: await open(), turnReader: new SqliteTurnReader(await open()), open };
  }
}

/** Locks the file as the service does, so that the schema cannot change under a running service. */
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
