import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { preloaded } from './io-faults';

const FILES = ['lethe.db', 'lethe.db-wal', 'keys.db', 'keys.db-wal'] as const;
const [WRITE, SYNC, TRUNCATE, UNLINK] = [1, 2, 3, 4];
const RECORD_BYTES = 24;
/** What a disk writes as a whole. */
const SECTORS = [512, 4_096] as const;
/** How many of the changes after the last sync reach the disk. */
const SHARES = [0, 0.5, 0.9] as const;
/** How many of these reach it in part. */
const TORN = 0.3;

interface Change {
  readonly op: number;
  readonly at: number;
  readonly bytes: Buffer;
}

/** A file as it was at its last sync, undefined where there is none, and every change since. */
interface FileState {
  image: Buffer | undefined;
  changes: Change[];
}

/** Records what a child process changes in the files of a database, and cuts the power: a part of it is lost. */
export class IoJournal {
  readonly environment: Readonly<Record<string, string>>;
  private readonly journal: string;
  private states: FileState[] = [];

  constructor(
    directory: string,
    private readonly data: string,
  ) {
    this.journal = join(directory, 'io.journal');
    this.environment = { LD_PRELOAD: preloaded(directory, 'io-journal'), IO_JOURNAL: this.journal };
    this.begin();
  }

  /** Takes the present files for durable. No process may use them. */
  begin(): void {
    writeFileSync(this.journal, '');
    this.states = FILES.map((name) => ({ image: this.read(name), changes: [] }));
  }

  /**
   * After the end of the process: leaves of each file its state at the last sync and a `share` of the later changes.
   * @throws Error when the journal does not lead to the present files
   */
  cut(share: number = oneOf(SHARES)): void {
    this.replay();
    this.requireComplete();
    for (const [at, name] of FILES.entries()) {
      const { image, changes } = this.states[at] as FileState;
      this.write(name, surviving(changes, share).reduce(applied, copyOf(image)));
    }
    // It is in memory alone, and is made anew.
    for (const name of ['lethe.db-shm', 'keys.db-shm']) rmSync(join(this.data, name), { force: true });
    this.begin();
  }

  private replay(): void {
    const journal = readFileSync(this.journal);
    for (let from = 0; from + RECORD_BYTES <= journal.length;) {
      const [op, file] = [journal.readUInt32LE(from), journal.readUInt32LE(from + 4)];
      const at = Number(journal.readBigUInt64LE(from + 8));
      const end = from + RECORD_BYTES + Number(journal.readBigUInt64LE(from + 16));
      const state = this.states[file] as FileState;
      if (op === SYNC) {
        state.image = state.changes.reduce(applied, state.image);
        state.changes = [];
      } else if (end <= journal.length)
        state.changes.push({ op, at, bytes: journal.subarray(from + RECORD_BYTES, end) });
      from = end;
    }
  }

  /** The last change of a file is perhaps recorded and not made. */
  private requireComplete(): void {
    for (const [at, name] of FILES.entries()) {
      const { image, changes } = this.states[at] as FileState;
      const present = this.read(name);
      const isPresent = (some: readonly Change[]): boolean => {
        const left = some.reduce(applied, copyOf(image));
        return left === undefined ? present === undefined : present?.equals(left) === true;
      };
      if (!isPresent(changes) && !isPresent(changes.slice(0, -1)))
        throw new Error(`the journal does not lead to the present ${name}`);
    }
  }

  private read(name: string): Buffer | undefined {
    const path = join(this.data, name);
    return existsSync(path) ? readFileSync(path) : undefined;
  }

  private write(name: string, content: Buffer | undefined): void {
    if (content === undefined) rmSync(join(this.data, name), { force: true });
    else writeFileSync(join(this.data, name), content, { mode: 0o600 });
  }
}

/** Some of the changes; none behind a truncation or removal that is lost, since later writes need its new blocks. */
function surviving(changes: readonly Change[], share: number): Change[] {
  const kept: Change[] = [];
  for (const change of changes) {
    const isKept = Math.random() < share;
    if (!isKept && change.op !== WRITE) break;
    if (isKept) kept.push(change.op === WRITE && Math.random() < TORN ? torn(change) : change);
  }
  return kept;
}

function torn(change: Change): Change {
  const sector = oneOf(SECTORS);
  const whole = Math.floor((Math.random() * change.bytes.length) / sector) * sector;
  return { ...change, bytes: change.bytes.subarray(0, whole) };
}

const copyOf = (image: Buffer | undefined): Buffer | undefined => image && Buffer.from(image);

/** Changes the image in place if it can. */
function applied(image: Buffer | undefined, { op, at, bytes }: Change): Buffer | undefined {
  if (op === UNLINK) return undefined;
  const present = image ?? Buffer.alloc(0);
  if (op === TRUNCATE) return resized(present, at);
  const grown = resized(present, Math.max(present.length, at + bytes.length));
  bytes.copy(grown, at);
  return grown;
}

function resized(image: Buffer, length: number): Buffer {
  return length === image.length ? image : Buffer.concat([image], length);
}

function oneOf<T>(some: readonly T[]): T {
  return some[Math.floor(Math.random() * some.length)] as T;
}
