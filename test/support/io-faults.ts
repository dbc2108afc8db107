import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { canRun } from './programs';

/** The calls of the operating system that can fail. */
export const OPS = { write: 1, sync: 2, truncate: 4, read: 8 } as const;
/** How a call fails. A short write leaves half of its bytes. */
export const ERRORS = { EIO: 5, ENOSPC: 28, short: 0 } as const;

export interface IoFault {
  /** The end of the path of the file. */
  readonly file: string;
  readonly op: keyof typeof OPS;
  readonly error: keyof typeof ERRORS;
  /** Which of the calls fails, from 1. */
  readonly nth: number;
  /** Whether every later call fails too, until the fault is taken away. */
  readonly onward?: boolean;
}

const SIZE = 32 + 64;

/** `describe` on Linux with a C compiler. */
export function describeIoFaults(name: string, tests: () => void): void {
  (process.platform === 'linux' && canRun('cc') ? describe : describe.skip)(name, tests);
}

/** Compiles a library of this folder for LD_PRELOAD; answers its path. */
export function preloaded(directory: string, name: string): string {
  const library = join(directory, `${name}.so`);
  const source = join(__dirname, `${name}.c`);
  const made = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl']);
  if (made.status !== 0) throw new Error(String(made.stderr));
  return library;
}

/** Lets calls of a child process fail, by a library that it loads first. */
export class IoFaults {
  readonly environment: Readonly<Record<string, string>>;
  private readonly file: number;

  constructor(directory: string) {
    const library = preloaded(directory, 'io-faults');
    const order = join(directory, 'io-faults.order');
    this.file = openSync(order, 'w+');
    writeSync(this.file, Buffer.alloc(SIZE));
    this.environment = { LD_PRELOAD: library, IO_FAULTS: order };
  }

  begin({ file, op, error, nth, onward }: IoFault): void {
    const order = Buffer.alloc(SIZE);
    [0, OPS[op], nth, ERRORS[error], 0, 0, onward === true ? 1 : 0].forEach((value, at) =>
      order.writeInt32LE(value, 4 * at),
    );
    order.write(file, 32);
    writeSync(this.file, order, 0, SIZE, 0);
    writeSync(this.file, Buffer.of(1), 0, 1, 0);
  }

  /** Takes the fault away; answers how many calls have failed. */
  end(): number {
    writeSync(this.file, Buffer.of(0), 0, 1, 0);
    const hit = Buffer.alloc(4);
    readSync(this.file, hit, 0, 4, 20);
    return hit.readInt32LE();
  }

  close(): void {
    closeSync(this.file);
  }
}
