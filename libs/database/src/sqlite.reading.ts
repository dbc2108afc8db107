import { StartError } from '@app/kernel';
import { databaseUnavailable, driverCode } from './database-faults';
import { SqliteReads } from './sqlite.reads';
import type { Tx } from './tx';

/** UnitOfWork on a file that another process may be writing to: units read, and one that writes after all is refused. */
export class SqliteReading extends SqliteReads {
  /** @throws StartError for a unit that writes: the start of a service makes what is missing then */
  async write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      return await this.read(work);
    } catch (error) {
      if (!driverCode(error).startsWith('SQLITE_READONLY')) throw error;
      throw new StartError(
        'The database is opened for reading alone. Start the service with it once before.',
      );
    }
  }

  scrub(): Promise<void> {
    return this.scrubKeys();
  }

  scrubKeys(): Promise<void> {
    return Promise.reject(databaseUnavailable());
  }
}
