import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { isThere, OwnError } from '@app/kernel';
import type { Checkpointed } from './checkpoint.thread';
import { SqliteTruncation } from './sqlite.truncation';
import type { SqliteConnection } from './sqlite.tx';

const THREAD = join(__dirname, 'checkpoint.thread.js');
/** The shortest time between two checkpoints, and the longest one while there are commits, in milliseconds. */
const EVERY_MS = 100;
const EVERY_MS_MAX = 1_000;
/** So many units make a checkpoint due before the longest time. */
const UNITS = 100;
/** So many further pages in the write-ahead log (32 MiB) hold up the writer until they are in the file. */
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

  /** Without the compiled file of the thread, as in a test, SQLite makes its own checkpoints. */
  constructor(
    private readonly writer: SqliteConnection,
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
