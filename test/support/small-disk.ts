import { spawnSync } from 'node:child_process';
import { closeSync, fstatSync, ftruncateSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** In CI the user may have sudo. Elsewhere it is not used, so that only root can mount. */
const AS_ROOT = process.env['CI'] === undefined || process.getuid?.() === 0 ? [] : ['sudo', '-n'];

/**
 * `describe` on a file system of its own, where one can be mounted. Elsewhere the tests are skipped with a notice; in CI
 * they fail.
 */
export function describeOnSmallDisk(name: string, mebibytes: number, tests: (disk: SmallDisk) => void): void {
  const disk = new SmallDisk();
  if (disk.mount(mebibytes)) {
    disk.unmount();
    // A suite of which `-t` runs no test has no hooks, and leaves nothing mounted.
    return describe(name, () => {
      beforeAll(() => {
        if (!disk.mount(mebibytes)) throw new Error('the file system cannot be mounted again');
      });
      afterAll(() => disk.unmount());
      tests(disk);
    });
  }
  if (process.env['CI'] === undefined) {
    process.stderr.write(
      `No file system can be mounted, as root can on Linux: the tests ${name} are skipped.\n`,
    );
    return describe.skip(name, () => tests(disk));
  }
  describe(name, () =>
    it('needs the right to mount a file system', () => {
      throw new Error('no file system can be mounted');
    }),
  );
}

/** A file system of its own that a test can fill. */
export class SmallDisk {
  directory = '';

  /** False where this user cannot mount. */
  mount(mebibytes: number): boolean {
    if (process.platform !== 'linux') return false;
    this.directory = mkdtempSync(join(tmpdir(), 'lethe-disk-'));
    const options = `size=${mebibytes}m,uid=${process.getuid?.()},mode=700`;
    if (ran('mount', '-t', 'tmpfs', '-o', options, 'tmpfs', this.directory)) return true;
    rmSync(this.directory, { recursive: true });
    return false;
  }

  /** Another program takes all that is left but these bytes. */
  fill(leaves = 0): void {
    const file = openSync(this.filler, 'a');
    try {
      for (let size = 2 ** 20; size >= 1;) size = this.takes(file, size) ? size : Math.floor(size / 2);
      ftruncateSync(file, Math.max(0, fstatSync(file).size - leaves));
    } finally {
      closeSync(file);
    }
  }

  clear(): void {
    rmSync(this.filler, { force: true });
  }

  unmount(): void {
    ran('umount', '-l', this.directory);
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

function ran(...command: string[]): boolean {
  const [program = '', ...given] = [...AS_ROOT, ...command];
  return spawnSync(program, given).status === 0;
}
