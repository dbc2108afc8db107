import { fstatSync, write, writeSync } from 'node:fs';

/** Lines are written when this number of bytes waits, or after this time in milliseconds. */
const BLOCK_BYTES = 8_192;
const FLUSH_MS = 250;
/** The most bytes that wait or are being written. Further lines are dropped and counted. */
const WAITING_MAX_BYTES = 8 * 1024 * 1024;
/** The pause before a failed write is repeated, in milliseconds: for a full pipe, and for other faults. */
const PIPE_PAUSE_MS = 50;
const FAULT_PAUSE_MS = 1_000;
/** The longest time that the end of a process waits for its last lines, in milliseconds. */
const END_MAX_MS = 500;

/** What happens to the log, for readiness and metrics. */
interface LogObserver {
  /** No line can be written: the disk is full, or the device has failed. */
  failing(): void;
  working(): void;
  dropped(): void;
}

/**
 * Writes lines to a file descriptor in blocks, outside the event loop. A full disk, a slow reader or a reader that has
 * ended stops neither the process nor its end: memory is bounded, and lines that cannot be kept are dropped.
 */
export class LogStream {
  private observer: LogObserver | undefined;
  private waiting: string[] = [];
  private waitingBytes = 0;
  /** The bytes that are being written, or are written again after a pause. */
  private block: Buffer | undefined;
  private isPausing = false;
  private timer: NodeJS.Timeout | undefined;
  private isFailing = false;
  private isClosed = false;

  constructor(private readonly fd = 1) {
    // A pipe without this property would block a write, and with it the end of the process.
    if (fd === 1 && !fstatSync(fd).isFile()) void process.stdout;
    process.once('exit', () => this.flushSync());
  }

  observe(observer: LogObserver): void {
    this.observer = observer;
    if (this.isFailing) observer.failing();
  }

  write(line: string): void {
    if (this.isClosed) return;
    if (this.waitingBytes + (this.block?.length ?? 0) + line.length > WAITING_MAX_BYTES) {
      this.observer?.dropped();
      return;
    }
    this.waiting.push(line);
    this.waitingBytes += line.length;
    if (this.block !== undefined) return;
    if (this.waitingBytes >= BLOCK_BYTES) this.next();
    else this.timer ??= setTimeout(() => this.next(), FLUSH_MS).unref();
  }

  /** Writes what it can within half a second. */
  flushSync(): void {
    // A block that another thread is writing is not written again.
    const block = this.isPausing && this.block !== undefined ? [this.block] : [];
    if (this.isPausing) this.begin();
    let rest = Buffer.concat([...block, this.taken()]);
    const endMs = performance.now() + END_MAX_MS;
    while (rest.length > 0 && !this.isClosed && performance.now() < endMs) {
      try {
        rest = rest.subarray(writeSync(this.fd, rest));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
      }
    }
  }

  private taken(): Buffer {
    const text = Buffer.from(this.waiting.join(''));
    this.waiting = [];
    this.waitingBytes = 0;
    return text;
  }

  private next(): void {
    this.begin();
    if (this.waiting.length > 0) this.send(this.taken());
  }

  /** No block is under way and no timer runs. */
  private begin(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.block = undefined;
    this.isPausing = false;
  }

  private send(block: Buffer): void {
    this.block = block;
    this.isPausing = false;
    this.timer = undefined;
    write(this.fd, block, (fault, written) => this.sent(block, fault, written));
  }

  private sent(block: Buffer, fault: NodeJS.ErrnoException | null, written: number): void {
    if (fault?.code === 'EPIPE') return this.close();
    if (fault !== null) return this.repeat(block, fault.code === 'EAGAIN' ? PIPE_PAUSE_MS : FAULT_PAUSE_MS);
    this.tell(false);
    if (written < block.length) return this.send(block.subarray(written));
    this.block = undefined;
    if (this.waitingBytes >= BLOCK_BYTES) this.next();
    else if (this.waiting.length > 0) this.timer ??= setTimeout(() => this.next(), FLUSH_MS).unref();
  }

  private repeat(block: Buffer, pauseMs: number): void {
    if (pauseMs === FAULT_PAUSE_MS) this.tell(true);
    this.isPausing = true;
    this.timer = setTimeout(() => this.send(block), pauseMs).unref();
  }

  /** The reader has ended, so that no line can be read. */
  private close(): void {
    this.isClosed = true;
    this.taken();
    this.begin();
  }

  private tell(isFailing: boolean): void {
    if (isFailing === this.isFailing) return;
    this.isFailing = isFailing;
    if (isFailing) this.observer?.failing();
    else this.observer?.working();
  }
}
