import { databaseUnavailable, driverCode } from './database-faults';
import { SqliteUnitOfWork } from './sqlite.unit-of-work';
import { StartError } from './start-error';
import type { Tx } from './tx';

/** UnitOfWork on a file that another process may be writing to: units read, and one that writes after all is refused. */
export class SqliteReading extends SqliteUnitOfWork {
  /** @throws StartError for a unit that writes: the start of a service makes what is missing then */
  override async write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      return await this.read(work);
    } catch (error) {
      if (!driverCode(error).startsWith('SQLITE_READONLY')) throw error;
      throw new StartError(
        'The database is opened for reading alone. Start the service with it once before.',
      );
    }
  }

  override scrub(): Promise<void> {
    return this.scrubKeys();
  }

  override scrubKeys(): Promise<void> {
    return Promise.reject(databaseUnavailable());
  }
}
