import { databaseUnavailable, outcomeUnknown } from './database-faults';
import { SqliteFiles } from './sqlite.files';
import type { SqliteKeys } from './sqlite.keys';
import type { SqliteConnection } from './sqlite.tx';

/**
 * The transaction of a group of units. Data and keys are two files, each with a transaction of its own. The keys are
 * committed first:
 *
 * | What fails, or a crash in it | What is left                                   | The answer                     |
 * | ---------------------------- | ---------------------------------------------- | ------------------------------ |
 * | a unit                       | nothing of this unit                           | its error                      |
 * | COMMIT of the keys           | no data; of the keys the whole group, or none  | 503, nothing was changed       |
 * | COMMIT of the data           | no data; the keys of the group                 | 503, nothing was changed       |
 * | also the settling after it   | the data of the group or none, after a restart | 503, the outcome is unknown    |
 * | nothing                      | data and keys of the group                     | success                        |
 *
 * A key without data is harmless, and is removed by a job. A destroyed key with data belongs to an erasure that is still
 * `processing`, or to a bot whose deletion is under way: both remove the data.
 */
export class SqliteTransaction {
  private readonly files: SqliteFiles;
  /** Whether the write-ahead log may end in a group that was refused. */
  private isUnsettled = false;

  constructor(
    private readonly writer: SqliteConnection,
    private readonly keys: SqliteKeys,
    private readonly onFault: (error: unknown) => void,
  ) {
    this.files = new SqliteFiles(writer.database.name);
  }

  /** @throws OwnError when a file is no longer the one under its name */
  requireInPlace(): void {
    this.files.requireInPlace();
  }

  begin(): void {
    if (this.isUnsettled) this.settle();
    this.writer.prepared('BEGIN IMMEDIATE').run();
  }

  /** @throws ApiError 503 when the group has ended: a savepoint would begin, and commit, a transaction of its own */
  beginUnit(): void {
    if (!this.isWhole) throw databaseUnavailable();
    this.writer.prepared('SAVEPOINT unit').run();
  }

  keepUnit(): void {
    this.keys.release();
    this.writer.prepared('RELEASE unit').run();
  }

  undoUnit(): void {
    this.keys.undo();
    if (!this.writer.database.inTransaction) return;
    this.writer.prepared('ROLLBACK TO unit').run();
    this.writer.prepared('RELEASE unit').run();
  }

  /** Whether nothing of the group is lost: some errors, such as a full disk, end the whole transaction. */
  get isWhole(): boolean {
    return this.writer.database.inTransaction && this.keys.isWhole;
  }

  /** Makes durable what the group has written to the keys. @throws Error when that fails; {@link abandon} follows */
  commitKeys(): void {
    if (!this.isWhole) throw databaseUnavailable();
    this.requireInPlace();
    this.keys.commit();
  }

  /** Makes the group durable. @throws Error when that fails; {@link abandon} follows */
  commit(): void {
    this.commitKeys();
    this.isUnsettled = true;
    this.writer.prepared('COMMIT').run();
    this.isUnsettled = false;
  }

  /** Undoes the group; answers the truth about it. */
  abandon(): Error {
    this.attempt(() => this.keys.abandon());
    this.attempt(() => this.rollBack());
    if (this.isUnsettled) this.attempt(() => this.settle());
    return this.isUnsettled ? outcomeUnknown() : databaseUnavailable();
  }

  private rollBack(): void {
    if (this.writer.database.inTransaction) this.writer.prepared('ROLLBACK').run();
  }

  /**
   * Overwrites the end of the write-ahead log after a COMMIT has failed: its last pages may be on the disk all the same,
   * and a recovery would take them for committed.
   */
  private settle(): void {
    const version = this.writer.database.pragma('user_version', { simple: true });
    this.writer.database.pragma(`user_version = ${String(version)}`);
    this.isUnsettled = false;
  }

  private attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.onFault(error);
    }
  }
}
