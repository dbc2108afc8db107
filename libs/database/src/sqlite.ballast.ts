import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, rmSync, statfsSync, truncateSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  bytesOf,
  type Config,
  type Degradations,
  describeFault,
  DISK_LOW,
  type Metrics,
  ownAsFolder,
} from '@app/kernel';
import { isOfFullDisk, isUndone } from './database-faults';

const CHUNK_BYTES = 2 ** 20;
/** A file is at most this share of its file system. */
const SHARE_MAX = 8;
/** The number of parts in which it is released, so that another program that fills the disk does not take all of it at once. */
const PARTS = 4;

/** The file on one disk. */
interface Reserve {
  readonly path: string;
  readonly wantedBytes: number;
}

/**
 * A file on each disk of the database that only occupies room. On a full disk even a deletion needs room: a part of the
 * file is released for it, and the file is completed when there is room again.
 */
export class Ballast {
  private readonly reserves: readonly Reserve[];
  private releases = 0;
  /** Called after a part was released. */
  onRelease: () => void = () => undefined;

  /** @param files one file of the database on each disk */
  constructor(files: readonly string[], wantedBytes: number) {
    this.reserves = files.map((file) => {
      const path = `${file}.ballast`;
      const { blocks, bsize } = statfsSync(dirname(path));
      if (wantedBytes === 0) rmSync(path, { force: true });
      return { path, wantedBytes: Math.min(wantedBytes, Math.floor((blocks * bsize) / SHARE_MAX)) };
    });
  }

  /** Room for the database, in bytes, without the ballast, on the disk with the least. */
  get freeBytes(): number {
    return Math.min(...this.reserves.map(freeBeside));
  }

  /** Whether less room is left than half of the ballast. Without a ballast it is never low. */
  get isLow(): boolean {
    return this.reserves.some(isLow);
  }

  get isComplete(): boolean {
    return this.reserves.every((reserve) => missing(reserve) <= 0);
  }

  /** Runs an act again that a full disk has undone, as long as a part of the ballast makes room for it. */
  relieve<T>(act: () => Promise<T>): Promise<T> {
    const { releases } = this;
    return act().catch((error: unknown) => {
      // Another act can have made the room meanwhile.
      if (!isUndone(error) || (this.releases === releases && !this.release())) throw error;
      return this.relieve(act);
    });
  }

  /**
   * Makes room by a part of the ballast on each disk that is full. Returns whether there is more room now: a folder or file that
   * this user may not reach is no fault of its own.
   */
  release(): boolean {
    if (this.reserves.filter(shorten).length === 0) return false;
    this.releases++;
    this.onRelease();
    return true;
  }

  /** Completes the ballast of each disk that has enough room beside it. @throws Error of the file system */
  async complete(): Promise<void> {
    await Promise.all(this.reserves.map((reserve) => this.fill(reserve)));
  }

  private async fill(reserve: Reserve): Promise<void> {
    const { path, wantedBytes } = reserve;
    // Also one that root has made before: the user of the service has to be able to shorten it.
    if (bytesOf(path) !== undefined) ownAsFolder(path);
    const bytes = missing(reserve);
    if (bytes < 0) truncateSync(path, wantedBytes);
    if (bytes <= 0 || freeBeside(reserve) < bytes + wantedBytes) return;
    closeSync(openSync(path, 'a', 0o600));
    // Before it is filled: a process that is killed meanwhile leaves a file that the user of the service can shorten.
    ownAsFolder(path);
    await writeFile(path, this.chunks(bytes), { flag: 'a', flush: true });
  }

  /** Until a part is released. Random bytes, since a file system can store others without blocks. */
  private *chunks(bytes: number): Generator<Buffer> {
    const { releases } = this;
    for (let left = bytes; left > 0 && releases === this.releases; left -= CHUNK_BYTES)
      yield randomBytes(Math.min(CHUNK_BYTES, left));
  }
}

/** Releases a part where the disk is full and there is one; returns whether it did. */
function shorten(reserve: Reserve): boolean {
  const { path, wantedBytes } = reserve;
  try {
    const bytes = bytesOf(path) ?? 0;
    if (bytes === 0 || !isLow(reserve)) return false;
    truncateSync(path, Math.max(0, bytes - Math.ceil(wantedBytes / PARTS)));
    return true;
  } catch {
    return false;
  }
}

function freeBeside({ path }: Reserve): number {
  const { bavail, bsize } = statfsSync(dirname(path));
  return bavail * bsize;
}

function isLow(reserve: Reserve): boolean {
  return freeBeside(reserve) < reserve.wantedBytes / 2;
}

function missing({ path, wantedBytes }: Reserve): number {
  return wantedBytes - (bytesOf(path) ?? 0);
}

const LOOK_MS = 5_000;

/**
 * Watches the room for the SQLite files, on each of their disks. While little is left, or the ballast is incomplete, the
 * process is degraded. The ballast is completed when there is room.
 */
@Injectable()
export class DiskWatch implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Disk');
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;

  constructor(
    private readonly ballast: Ballast | undefined,
    private readonly config: Pick<Config, 'jobs'>,
    private readonly degradations: Degradations,
    private readonly metrics: Metrics,
  ) {}

  onApplicationBootstrap(): void {
    const { ballast } = this;
    // A command of the operator leaves the ballast as it is.
    if (ballast === undefined || this.config.jobs === 'off') return;
    this.metrics.gauge('diskFree', () => ballast.freeBytes);
    ballast.onRelease = () => this.note(true);
    this.note(ballast.isLow);
    this.timer = setInterval(() => void this.look(), LOOK_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.looking;
  }

  /** Completes the ballast if possible, and notes what is left. */
  look(): Promise<void> {
    this.looking ??= this.complete().finally(() => (this.looking = undefined));
    return this.looking;
  }

  private async complete(): Promise<void> {
    const { ballast } = this;
    if (ballast === undefined) return;
    try {
      await ballast.complete();
      this.note(ballast.isLow || !ballast.isComplete);
    } catch (error) {
      this.note(true, error);
    }
  }

  private note(isLow: boolean, fault?: unknown): void {
    if (!this.degradations.note(DISK_LOW, isLow)) return;
    if (!isLow) return this.logger.log('The disk of the database has room again');
    const cause =
      fault === undefined || isOfFullDisk(fault)
        ? 'The disk of the database is almost full, or that of its keys:'
        : 'The ballast beside the database cannot be completed: give the user that runs Lethe write access to it, and room in its quota. Until then';
    const consequence = 'erasures and withdrawals are accepted, requests that store more are refused';
    this.logger.error(`${cause} ${consequence}`, ...(fault === undefined ? [] : [describeFault(fault)]));
  }
}
