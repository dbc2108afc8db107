import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chance, oneOf } from './chance';
import { preloaded } from './io-faults';

const FILES = ['lethe.db', 'lethe.db-wal', 'keys.db', 'keys.db-wal'] as const;
const [WRITE, SYNC, TRUNCATE, UNLINK] = [1, 2, 3, 4];
const RECORD_BYTES = 24;
/** A page of the kernel's cache. */
const PAGE = 4_096;
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

/** A file as it was at the begin, undefined where there was none, every change since, and how many of them are synced. */
interface FileState {
  readonly image: Buffer | undefined;
  readonly changes: Change[];
  synced: number;
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
    this.states = FILES.map((name) => ({ image: this.read(name), changes: [], synced: 0 }));
  }

  /**
   * After the end of the process: leaves of each file its state at the last sync and a `share` of the later changes.
   * @throws Error when the journal does not lead to the present files
   */
  cut(share: number = oneOf(SHARES)): void {
    this.replay();
    this.requireComplete();
    for (const [at, name] of FILES.entries()) {
      const { image, changes, synced } = this.states[at] as FileState;
      const later = surviving(changes.slice(synced), share);
      this.write(name, changed(image, [...changes.slice(0, synced), ...later]));
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
      if (op === SYNC) state.synced = state.changes.length;
      else if (end <= journal.length)
        state.changes.push({ op, at, bytes: journal.subarray(from + RECORD_BYTES, end) });
      from = end;
    }
  }

  /** The last change of a file is perhaps recorded and not made, or made in part. */
  private requireComplete(): void {
    for (const [at, name] of FILES.entries()) {
      const { image, changes } = this.states[at] as FileState;
      const present = contentOf(this.read(name));
      const [before, last] = [changes.slice(0, -1), changes.at(-1)];
      const isPresent = (made: readonly Change[]): boolean =>
        contentOf(changed(image, [...before, ...made])).equals(present);
      if (!isPresent([]) && !(last !== undefined && madeOf(last).some((made) => isPresent([made]))))
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

/** What a kill may leave of a change: the kernel looks for a fatal signal before each page of a write. */
function madeOf(change: Change): Change[] {
  const made = [change];
  for (let end = PAGE - (change.at % PAGE); change.op === WRITE && end < change.bytes.length; end += PAGE)
    made.push({ ...change, bytes: change.bytes.subarray(0, end) });
  return made;
}

/** Some of the changes; none behind a truncation or removal that is lost, since later writes need its new blocks. */
function surviving(changes: readonly Change[], share: number): Change[] {
  const kept: Change[] = [];
  for (const change of changes) {
    const isKept = chance() < share;
    if (!isKept && change.op !== WRITE) break;
    if (isKept) kept.push(change.op === WRITE && chance() < TORN ? torn(change) : change);
  }
  return kept;
}

function torn(change: Change): Change {
  const sector = oneOf(SECTORS);
  const whole = Math.floor((chance() * change.bytes.length) / sector) * sector;
  return { ...change, bytes: change.bytes.subarray(0, whole) };
}

/** A copy of the image after the changes. */
function changed(image: Buffer | undefined, changes: readonly Change[]): Buffer | undefined {
  let length = image?.length;
  const most = changes.reduce((end, { at, bytes }) => Math.max(end, at + bytes.length), length ?? 0);
  // All behind the length is zero.
  const file = Buffer.alloc(most);
  image?.copy(file);
  for (const { op, at, bytes } of changes) {
    if (op !== WRITE) file.fill(0, at);
    bytes.copy(file, at);
    if (op === UNLINK) length = undefined;
    else length = op === TRUNCATE ? at : Math.max(length ?? 0, at + bytes.length);
  }
  return length === undefined ? undefined : file.subarray(0, length);
}

/** A file without a byte for no file: its creation is not recorded. */
function contentOf(file: Buffer = Buffer.alloc(0)): Buffer {
  return file;
}
