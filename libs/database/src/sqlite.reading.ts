import { databaseUnavailable } from './database-faults';
import type { Tx } from './tx';
import { SqliteUnitOfWork } from './sqlite.unit-of-work';

/** UnitOfWork on a file that another process may be writing to: units read, and one that writes after all is refused. */
export class SqliteReading extends SqliteUnitOfWork {
  override write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.read(work);
  }

  override scrub(): Promise<void> {
    return this.scrubKeys();
  }

  override scrubKeys(): Promise<void> {
    return Promise.reject(databaseUnavailable());
  }
}
