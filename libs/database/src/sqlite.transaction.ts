import { accessSync, constants, statSync } from 'node:fs';
import { basename } from 'node:path';
import { OwnError } from '@app/kernel';
import { databaseUnavailable, driverCode, outcomeUnknown } from './database-faults';
import { keysName, keysPath } from './key-tables';
import type { SqliteConnection, SqliteKeys } from './sqlite.tx';
import type { Tx } from './tx';

/**
 * The files that a process has open, data and keys, each with its log. A file that is removed or replaced stays open,
 * and what is committed to it is lost when the process ends.
 */
class SqliteFiles {
  private readonly identities = new Map<string, string>();

  /** Call it when both files are open, with their logs. */
  constructor(path: string) {
    // By the name of the keys also a link that leads to another file is noticed.
    for (const file of [path, `${path}-wal`, keysName(path), `${keysPath(path)}-wal`]) {
      const identity = identityOf(file);
      if (identity === undefined) throw new OwnError(`${file} is missing after it was opened`);
      this.identities.set(file, identity);
    }
  }

  /** @throws OwnError when a file is no longer the one under its name */
  requireInPlace(): void {
    for (const [path, identity] of this.identities)
      if (identityOf(path) !== identity)
        throw new OwnError(
          `${basename(path)} was removed or replaced while the service uses it: a commit would be lost at the next start, so ` +
            'every act is refused. Put the same file back under its name, or stop the service and restore a backup.',
        );
  }

  /**
   * @throws OwnError when a file system is mounted read-only now. After an error of its disk Linux from 6.12 on refuses writes to ext4 without
   * this: each act says so then.
   */
  requireWritable(): void {
    for (const path of this.identities.keys())
      try {
        accessSync(path, constants.W_OK);
      } catch (error) {
        if (driverCode(error) === 'EROFS')
          throw new OwnError(
            `${basename(path)} is on a file system that is read-only now: every act that writes is refused`,
          );
      }
  }
}

/** Device and number of the file; undefined when there is none. */
function identityOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}/${found.ino}`;
}

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
  readonly files: SqliteFiles;
  /** Whether the write-ahead log may end in a group that was refused. */
  private isUnsettled = false;

  constructor(
    private readonly writer: SqliteConnection,
    private readonly keys: SqliteKeys,
    private readonly onFault: (error: unknown) => void,
  ) {
    this.files = new SqliteFiles(writer.database.name);
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
    this.files.requireInPlace();
    this.keys.commit();
  }

  /** Makes the group durable. @throws Error when that fails; {@link abandon} follows */
  commit(): void {
    this.commitKeys();
    this.isUnsettled = true;
    this.writer.prepared('COMMIT').run();
    this.isUnsettled = false;
  }

  /** Undoes the group, and returns the error that its units get. */
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

/** A unit that waits for its group. */
export interface Unit {
  readonly work: (tx: Tx) => Promise<unknown>;
  /** The second part of a unit that destroys keys. */
  readonly then?: (tx: Tx, value: never, isScrubbed: boolean) => Promise<unknown>;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/** A unit that was run. Its outcome is answered after the COMMIT of its group. */
export interface Ended {
  readonly unit: Unit;
  readonly outcome: { value: unknown } | { error: unknown };
  readonly callbacks: readonly (() => void)[];
}

/** Gives the caller of each unit of a group its outcome. */
export function settle(group: readonly Ended[]): void {
  for (const { unit, outcome } of group) {
    if ('error' in outcome) unit.reject(outcome.error);
    else unit.resolve(outcome.value as never);
  }
}
