import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system of its own that a test can fill. Making it needs root on Linux. */
export class SmallDisk {
  private constructor(readonly directory: string) {}

  /** Undefined where this user cannot mount. */
  static mount(mebibytes: number): SmallDisk | undefined {
    if (process.platform !== 'linux') return undefined;
    const directory = mkdtempSync(join(tmpdir(), 'lethe-disk-'));
    const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', directory]);
    if (status === 0) return new SmallDisk(directory);
    rmSync(directory, { recursive: true });
    return undefined;
  }

  /** Another program takes all that is left. */
  fill(): void {
    const file = openSync(this.filler, 'a');
    try {
      for (let size = 2 ** 20; size >= 1;) size = this.takes(file, size) ? size : Math.floor(size / 2);
    } finally {
      closeSync(file);
    }
  }

  clear(): void {
    rmSync(this.filler, { force: true });
  }

  unmount(): void {
    spawnSync('umount', ['-l', this.directory]);
    rmSync(this.directory, { recursive: true, force: true });
  }

  private get filler(): string {
    return join(this.directory, 'filler');
  }

  private takes(file: number, size: number): boolean {
    try {
      return writeSync(file, Buffer.alloc(size)) === size;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false;
      throw error;
    }
  }
}
