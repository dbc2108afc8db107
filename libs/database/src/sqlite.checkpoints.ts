import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Database } from 'better-sqlite3';
import { flushPath, isThere, OwnError } from '@app/kernel';
import type { Checkpointed } from './checkpoint.thread';
import { databaseUnavailable } from './database-faults';

const TRIES_MAX = 50;
/** The pause, in milliseconds, before an idle service tries again. */
export const TRUNCATION_PAUSE_MS = 20;

/**
 * Truncates the write-ahead log of a file. Until then the log keeps the bytes of destroyed keys and deleted rows. A transaction
 * that still reads from the log prevents a truncation.
 */
export class SqliteTruncation {
  private readonly waiting: ((truncated: boolean) => void)[] = [];
  private tries = 0;

  /** `held` is reported when a truncation is given up. */
  constructor(
    private readonly database: Database,
    private readonly onFault: (error: unknown) => void,
    private readonly held: string,
  ) {}

  get isDue(): boolean {
    return this.waiting.length > 0;
  }

  /**
   * Resolves after the next truncation. Simultaneous callers share one.
   * @throws ApiError 503 when it was given up
   */
  request(): Promise<void> {
    return new Promise((resolve, reject) =>
      this.waiting.push((truncated) => (truncated ? resolve() : reject(databaseUnavailable()))),
    );
  }

  /** {@link request} at once. Must be called when nothing of a group waits for its commit. */
  now(): boolean {
    if (!this.tryOnce()) return false;
    this.answerWaiting(true);
    return true;
  }

  /** Must be called between two groups. Returns false when another attempt is due, since a snapshot is open. */
  attempt(): boolean {
    const truncated = this.tryOnce();
    if (!truncated && ++this.tries < TRIES_MAX) return false;
    if (!truncated) this.onFault(new OwnError(this.held));
    this.answerWaiting(truncated);
    return true;
  }

  private answerWaiting(truncated: boolean): void {
    this.tries = 0;
    for (const answer of this.waiting.splice(0)) answer(truncated);
  }

  private tryOnce(): boolean {
    try {
      const [result] = this.database.pragma('main.wal_checkpoint(TRUNCATE)') as { busy: number }[];
      if (result?.busy !== 0) return false;
      // SQLite does not sync a truncation: after a power cut the log would have its former length and content.
      flushPath(`${this.database.name}-wal`, 'r+');
      return true;
    } catch (error) {
      this.onFault(error);
      return false;
    }
  }
}

const THREAD = join(__dirname, 'checkpoint.thread.js');
/** The shortest time between two checkpoints, and the longest one while there are commits, in milliseconds. */
const EVERY_MS = 100;
const EVERY_MS_MAX = 1_000;
/** The number of units that makes a checkpoint due before the longest time. */
const UNITS = 100;
/** The number of further pages in the write-ahead log (32 MiB) that holds up the writer until they are in the file. */
const PAGES_MAX = 8_192;
/** The pages after which SQLite makes a checkpoint in a commit, if there is no thread or it fails. */
const AUTOMATIC = 1_000;
/** A thread that takes longer for one checkpoint, in milliseconds, is given up. */
const LIMIT_MS = 30_000;

/**
 * Copies the write-ahead log of the data into the file on a thread with a connection of its own. In the commit that
 * fills the log, as SQLite does by itself, it would stop the event loop for as long as the disk takes.
 *
 * The log begins anew when all of it is copied and no unit has been added meanwhile. Under a steady load that has to be
 * arranged: {@link caughtUp} holds up the writer, not the event loop.
 */
export class SqliteCheckpoints {
  readonly truncation: SqliteTruncation;
  private worker: Worker | undefined;
  private underWay: Promise<void> | undefined;
  private ended = (): void => undefined;
  private limit: NodeJS.Timeout | undefined;
  private begunMs: number;
  private units = 0;
  private pages = 0;
  /** The pages that could not be removed last time, since a reader needs them. */
  private kept = 0;
  private isFailing = false;

  /** If the compiled file of the thread is missing, as in a test, SQLite makes its own checkpoints. */
  constructor(
    private readonly writer: { readonly database: Database },
    private readonly onFault: (error: unknown) => void,
    thread = THREAD,
    private readonly limitMs = LIMIT_MS,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    this.begunMs = this.nowMs();
    this.truncation = new SqliteTruncation(
      writer.database,
      onFault,
      'The write-ahead log of the data could not be truncated, since another process reads the data: until it ends, what was deleted stays in it, and the deletion of a bot waits',
    );
    if (!isThere(thread)) return;
    this.worker = new Worker(thread, { workerData: writer.database.name, execArgv: [] });
    this.worker.unref();
    this.worker.on('message', (answer: Checkpointed) => this.noteAnswer(answer));
    // Also an error without a listener would end the process.
    this.worker.on('error', (error) => this.giveUp(error));
    this.worker.once('exit', () => this.giveUp(new OwnError('The thread of the checkpoints has ended')));
    this.setAutomatic(0);
  }

  /** Whether the next group of units has to wait for {@link caughtUp}. */
  get areOverdue(): boolean {
    if (this.worker === undefined) return false;
    // The truncation would copy the log in the event loop.
    if (this.truncation.isDue) return true;
    const isSlow = this.underWay !== undefined && this.nowMs() - this.begunMs > EVERY_MS_MAX;
    return isSlow || this.pages - this.kept >= (this.kept > 0 ? AUTOMATIC : PAGES_MAX);
  }

  /** After each commit. */
  noteCommit(units: number): void {
    this.units += units;
    if (this.underWay !== undefined) return;
    const sinceMs = this.nowMs() - this.begunMs;
    if (sinceMs > EVERY_MS_MAX || (sinceMs > EVERY_MS && this.units >= UNITS)) void this.begin();
  }

  /** Resolves when the whole log is copied, unless a reader needs a part of it. No unit may be committed meanwhile. */
  async caughtUp(): Promise<void> {
    await this.underWay;
    await this.begin();
    this.kept = this.pages;
  }

  /** Ends the thread, after the last commit. */
  async end(): Promise<void> {
    await this.underWay;
    const { worker } = this;
    this.worker = undefined;
    await worker?.terminate();
  }

  private begin(): Promise<void> {
    const { worker } = this;
    if (worker === undefined) return Promise.resolve();
    this.begunMs = this.nowMs();
    this.units = 0;
    this.underWay = new Promise((resolve) => (this.ended = resolve));
    worker.postMessage(null);
    const giveUp = (): void => {
      this.giveUp(new OwnError('A checkpoint takes too long'));
      void worker.terminate();
    };
    this.limit = setTimeout(giveUp, this.limitMs).unref();
    return this.underWay;
  }

  private noteAnswer(answer: Checkpointed): void {
    if ('fault' in answer) this.noteFault(answer.fault);
    else {
      if (this.isFailing) this.setAutomatic(0);
      this.isFailing = false;
      this.pages = answer.pages;
      if (this.pages < this.kept) this.kept = 0;
    }
    this.noteEnd();
  }

  /** Until the next success SQLite makes checkpoints too, so that the log stays bounded. One report is enough. */
  private noteFault(code: string): void {
    if (this.isFailing) return;
    this.isFailing = true;
    this.setAutomatic(AUTOMATIC);
    this.onFault(Object.assign(new OwnError('A checkpoint failed'), { code }));
  }

  private setAutomatic(pages: number): void {
    this.writer.database.pragma(`wal_autocheckpoint = ${pages}`);
  }

  private noteEnd(): void {
    clearTimeout(this.limit);
    this.underWay = undefined;
    this.ended();
  }

  /** SQLite makes its own checkpoints from here on. */
  private giveUp(error: Error): void {
    if (this.worker === undefined) return;
    this.worker = undefined;
    this.noteEnd();
    this.setAutomatic(AUTOMATIC);
    this.onFault(error);
  }
}
