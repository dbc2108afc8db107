import { rmSync, statfsSync, statSync, truncateSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { dirname, resolve } from 'node:path';

const CHUNK_BYTES = 2 ** 20;
/** The ballast is at most this share of its file system. */
const SHARE_MAX = 8;
/** It is released in so many parts, so that another program that fills the disk does not take all of it at once. */
const PARTS = 4;

/**
 * A file beside the database that only occupies room. On a full disk even a deletion needs room: a part of the file is
 * released for it, and the file is completed when there is room again.
 */
export class Ballast {
  readonly path: string;
  private readonly directory: string;
  private readonly wantedBytes: number;
  /** How often a part was released. */
  releases = 0;
  /** Called after a part was released. */
  onRelease: () => void = () => undefined;

  constructor(databasePath: string, wantedBytes: number) {
    this.path = `${resolve(databasePath)}.ballast`;
    this.directory = dirname(this.path);
    const { blocks, bsize } = statfsSync(this.directory);
    this.wantedBytes = Math.min(wantedBytes, Math.floor((blocks * bsize) / SHARE_MAX));
    if (this.wantedBytes === 0) rmSync(this.path, { force: true });
  }

  /** Room for the database, in bytes, without the ballast. */
  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.directory);
    return bavail * bsize;
  }

  /** Whether less room is left than half of the ballast. Without a ballast it is never low. */
  get isLow(): boolean {
    return this.freeBytes < this.wantedBytes / 2;
  }

  get isComplete(): boolean {
    return this.bytes >= this.wantedBytes;
  }

  private get bytes(): number {
    return statSync(this.path, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Makes room by a part of the ballast if the disk is full. Answers whether there is more room now. */
  release(): boolean {
    const { bytes } = this;
    if (bytes === 0 || !this.isLow) return false;
    truncateSync(this.path, Math.max(0, bytes - Math.ceil(this.wantedBytes / PARTS)));
    this.releases++;
    this.onRelease();
    return true;
  }

  /**
   * Completes the file if enough room is left beside it. The bytes are random and written, since a file system can store
   * others without blocks.
   * @throws Error of the file system
   */
  async complete(): Promise<void> {
    const missing = this.wantedBytes - this.bytes;
    if (missing < 0) truncateSync(this.path, this.wantedBytes);
    if (missing <= 0 || this.freeBytes < missing + this.wantedBytes) return;
    const { releases } = this;
    const file = await open(this.path, 'a', 0o600);
    try {
      for (let left = missing; left > 0 && releases === this.releases; left -= CHUNK_BYTES)
        await file.appendFile(randomBytes(Math.min(CHUNK_BYTES, left)));
      await file.sync();
    } finally {
      await file.close();
    }
  }
}

/** The ballast of each disk on which a file of the database is. */
export class Ballasts {
  constructor(private readonly all: readonly Ballast[]) {}

  set onRelease(onRelease: () => void) {
    for (const ballast of this.all) ballast.onRelease = onRelease;
  }

  get releases(): number {
    return this.all.reduce((sum, { releases }) => sum + releases, 0);
  }

  /** The room of the disk with the least. */
  get freeBytes(): number {
    return Math.min(...this.all.map(({ freeBytes }) => freeBytes));
  }

  get isLow(): boolean {
    return this.all.some(({ isLow }) => isLow);
  }

  get isComplete(): boolean {
    return this.all.every(({ isComplete }) => isComplete);
  }

  /** {@link Ballast.release} on each disk that is full. */
  release(): boolean {
    return this.all.filter((ballast) => ballast.release()).length > 0;
  }

  /** Completes each. @throws Error of the file system */
  async complete(): Promise<void> {
    await Promise.all(this.all.map((ballast) => ballast.complete()));
  }
}
