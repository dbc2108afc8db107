import { isUndone } from './database-faults';
import type { Ballasts } from './sqlite.ballast';
import type { SqliteKeys } from './sqlite.keys';
import type { SqliteReaders } from './sqlite.reads';
import type { SqliteConnection } from './sqlite.tx';
import { SqliteUnitOfWork } from './sqlite.unit-of-work';
import type { Tx } from './tx';

/** SqliteUnitOfWork that repeats what a full disk has undone, as long as a part of the ballast makes room for it. */
export class RelievedUnitOfWork extends SqliteUnitOfWork {
  constructor(
    writer: SqliteConnection,
    keys: SqliteKeys,
    readers: SqliteReaders,
    onFault: (error: unknown) => void,
    private readonly ballast: Ballasts,
  ) {
    super(writer, keys, readers, onFault);
  }

  override write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.relieved(() => super.write(work));
  }

  override destroyKeys<Destroyed, T>(
    work: (tx: Tx) => Promise<Destroyed>,
    then: (tx: Tx, destroyed: Destroyed, isScrubbed: boolean) => Promise<T>,
  ): Promise<T> {
    return this.relieved(() => super.destroyKeys(work, then));
  }

  override scrubKeys(): Promise<void> {
    return this.relieved(() => super.scrubKeys());
  }

  private relieved<T>(act: () => Promise<T>): Promise<T> {
    const { releases } = this.ballast;
    return act().catch((error: unknown) => {
      if (!isUndone(error)) throw error;
      // Another unit can have made the room meanwhile.
      if (this.ballast.releases === releases && !this.ballast.release()) throw error;
      return this.relieved(act);
    });
  }
}
