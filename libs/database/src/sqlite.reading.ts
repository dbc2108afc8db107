import { StartError } from '@app/kernel';
import { databaseUnavailable, driverCode } from './database-faults';
import { SqliteReads } from './sqlite.reads';
import type { Tx } from './tx';

/** UnitOfWork on a file that another process may write to. A unit that writes is refused. */
export class SqliteReading extends SqliteReads {
  /** @throws StartError for a unit that writes. The service creates missing rows when it starts. */
  async write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      return await this.read(work);
    } catch (error) {
      if (!driverCode(error).startsWith('SQLITE_READONLY')) throw error;
      throw new StartError('The database is open for reading only. Start the service with it once first.');
    }
  }

  scrubKeys(): Promise<void> {
    return Promise.reject(databaseUnavailable());
  }
}
