import { closeSync, fsyncSync, openSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { OwnError } from '@app/kernel';
import { databaseUnavailable } from './database-faults';
import { OPENING_MS, SqliteDatabase } from './sqlite.driver';
import { SqliteStatements } from './sqlite.statements';

const TRIES_MAX = 50;
/** The page cache, in KiB. */
const CACHE_KIB = 8_192;
/** The prefix that addresses the tables of the keys in every statement. */
const PREFIX = /\bkeys\./;
const EVERY_PREFIX = new RegExp(PREFIX, 'g');

/** Whether a statement is about the tables of the keys. */
export function isOfKeys(sql: string): boolean {
  return PREFIX.test(sql);
}

/**
 * The file of the keys, which only this process writes. Its transactions are not those of the data: a group of units
 * commits here before it commits its data. Whatever fails after that leaves a new key that nothing uses, or the data of
 * an erasure that is still `processing`, but never data without its key.
 */
export class SqliteKeys extends SqliteStatements {
  private readonly waiting: ((truncated: boolean) => void)[] = [];
  private tries = 0;
  private isInGroup = false;
  private isInUnit = false;

  constructor(
    path: string,
    private readonly onFault: (error: unknown) => void,
  ) {
    super(opened(path));
  }

  /** Rows that triggers have changed count too, since subject_keys is a view. */
  override run(sql: string, values: readonly unknown[]): number {
    const before = this.totalChanges();
    this.prepared(sql).run(...values);
    return this.totalChanges() - before;
  }

  /** Takes part in the unit under way. */
  joined(): this {
    if (!this.isInGroup) this.prepared('BEGIN').run();
    this.isInGroup = true;
    if (!this.isInUnit) this.prepared('SAVEPOINT unit').run();
    this.isInUnit = true;
    return this;
  }

  /** Keeps what the unit has written. */
  release(): void {
    if (this.isInUnit) this.prepared('RELEASE unit').run();
    this.isInUnit = false;
  }

  /** Undoes what the unit has written. */
  undo(): void {
    const isOpen = this.isInUnit && this.database.inTransaction;
    this.isInUnit = false;
    if (!isOpen) return;
    this.prepared('ROLLBACK TO unit').run();
    this.prepared('RELEASE unit').run();
  }

  /** Whether nothing of the group was lost: some errors, such as a full disk, end the whole transaction. */
  get isWhole(): boolean {
    return !this.isInGroup || this.database.inTransaction;
  }

  /** Makes durable what the group has written. @throws Error when that fails, with nothing written */
  commit(): void {
    if (!this.isWhole) throw databaseUnavailable();
    if (this.isInGroup) this.prepared('COMMIT').run();
    this.isInGroup = false;
  }

  /** Undoes what the group has written and not committed. */
  abandon(): void {
    this.isInGroup = false;
    this.isInUnit = false;
    if (this.database.inTransaction) this.prepared('ROLLBACK').run();
  }

  get isTruncationDue(): boolean {
    return this.waiting.length > 0;
  }

  /**
   * Resolves to true after the next truncation of the write-ahead log, in which destroyed keys remain until then, and to
   * false when it was given up. Simultaneous callers share one truncation.
   */
  requestTruncation(): Promise<boolean> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** {@link requestTruncation} at once. Must be called when nothing of a group waits for its commit. */
  truncateNow(): boolean {
    if (!this.tryOnce()) return false;
    this.answerWaiting(true);
    return true;
  }

  /** Must be called between two groups. Returns false when another attempt is due, since a snapshot is open. */
  truncate(): boolean {
    const truncated = this.tryOnce();
    if (!truncated && ++this.tries < TRIES_MAX) return false;
    if (!truncated)
      this.onFault(
        new OwnError(
          'The write-ahead log of the keys could not be truncated, since another process reads the keys: an erasure waits until it ends',
        ),
      );
    this.answerWaiting(truncated);
    return true;
  }

  private answerWaiting(truncated: boolean): void {
    this.tries = 0;
    for (const resolve of this.waiting.splice(0)) resolve(truncated);
  }

  protected override textOf(sql: string): string {
    return super.textOf(sql).replace(EVERY_PREFIX, '');
  }

  private tryOnce(): boolean {
    try {
      const [result] = this.database.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
      if (result?.busy !== 0) return false;
      this.syncLog();
      return true;
    } catch (error) {
      this.onFault(error);
      return false;
    }
  }

  /** SQLite does not sync a truncation: after a power cut the log would have its former length and content. */
  private syncLog(): void {
    const log = openSync(`${this.database.name}-wal`, 'r+');
    try {
      fsyncSync(log);
    } finally {
      closeSync(log);
    }
  }

  private totalChanges(): number {
    return this.prepared('SELECT total_changes()').pluck().get() as number;
  }
}

function opened(path: string): Database {
  const database = new SqliteDatabase(path, { fileMustExist: true, timeout: OPENING_MS });
  const pragmas = ['synchronous = FULL', 'secure_delete = ON', `cache_size = -${CACHE_KIB}`];
  for (const pragma of pragmas) database.pragma(pragma);
  return database;
}
