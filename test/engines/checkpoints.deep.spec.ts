import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import type { Worker } from 'node:worker_threads';
import { join } from 'node:path';
import { SqliteCheckpoints, SqliteConnection, SqliteDatabase, sqliteOptions } from '@app/database';
import { DataSource } from 'typeorm';
import { useBuild } from '../support/build';
import { until } from '../support/until';

const build = useBuild();
const MIB = 2 ** 20;
let directory: string;
let path: string;
let writer: SqliteConnection;
let checkpoints: SqliteCheckpoints;
const faults: unknown[] = [];
/** The time that the checkpoints see. */
let nowMs = 0;

const started = (thread = join(build.directory, 'checkpoint.thread.js'), limitMs?: number) =>
  new SqliteCheckpoints(
    writer,
    (error) => faults.push(error),
    thread,
    limitMs,
    () => nowMs,
  );
const automatic = () => writer.database.pragma('wal_autocheckpoint', { simple: true });
const logBytes = () => statSync(`${path}-wal`).size;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
  path = join(directory, 'lethe.db');
  writer = new SqliteConnection(await new DataSource(sqliteOptions(path, 'write')).initialize());
  // What is tested here does not depend on the disk.
  writer.database.pragma('synchronous = OFF');
  writer.database.exec('CREATE TABLE notes (id integer PRIMARY KEY, text blob NOT NULL)');
  faults.length = 0;
  nowMs = 0;
});
afterEach(async () => {
  await checkpoints.end();
  await writer.dataSource.destroy();
  rmSync(directory, { recursive: true });
});

/** Commits an eighth of a MiB, as the unit of work does. */
async function commitOne(units = 100): Promise<void> {
  if (checkpoints.areOverdue) await checkpoints.caughtUp();
  writer.database.prepare('INSERT INTO notes (text) VALUES (zeroblob(?))').run(MIB / 8);
  nowMs += 10;
  checkpoints.noteCommit(units);
  await new Promise(setImmediate);
}

describe('the checkpoints', () => {
  it('copy the log into the file beside the commits', async () => {
    checkpoints = started();
    expect(automatic()).toBe(0);
    const before = statSync(path).size;
    await until(async () => {
      await commitOne();
      return statSync(path).size > before + 4 * MIB;
    });
    expect(faults).toStrictEqual([]);
  });

  /** A thread that answers each checkpoint with the next of these numbers of pages, and the one after them when it is let go. */
  function answering(...pages: number[]): string {
    const thread = join(directory, 'thread.js');
    writeFileSync(
      thread,
      `const { parentPort } = require('worker_threads');
       const answers = ${JSON.stringify(pages)};
       parentPort.on('message', (message) => {
         if (message === 'go' || answers.length > 0) parentPort.postMessage({ pages: answers.shift() ?? 0 });
       });`,
    );
    return thread;
  }

  const letGo = (): void => (checkpoints as unknown as { worker: Worker }).worker.postMessage('go');

  it('of an idle service are not made, and those of single units once a second', async () => {
    checkpoints = started(answering(1));
    const begun = jest.spyOn(checkpoints as unknown as { begin: () => Promise<void> }, 'begin');
    for (let count = 0; count < 100; count++) await commitOne(0);
    expect([nowMs, begun.mock.calls.length]).toStrictEqual([1_000, 0]);
    await commitOne(1);
    expect(begun).toHaveBeenCalledTimes(1);
  });

  it('of many units are made every tenth of a second', async () => {
    checkpoints = started(answering(1));
    const begun = jest.spyOn(checkpoints as unknown as { begin: () => Promise<void> }, 'begin');
    for (let count = 0; count < 10; count++) await commitOne(50);
    expect([nowMs, begun.mock.calls.length]).toStrictEqual([100, 0]);
    await commitOne(50);
    expect(begun).toHaveBeenCalledTimes(1);
  });

  it('hold up the writer while 32 MiB are not copied, and while one takes longer than a second', async () => {
    checkpoints = started(answering(8_191, 8_192, 8_192));
    const ends = jest.spyOn(checkpoints as unknown as { noteEnd: () => void }, 'noteEnd');
    /** One checkpoint beside the commits. */
    async function copied(): Promise<boolean> {
      const before = ends.mock.calls.length;
      nowMs += 1_001;
      checkpoints.noteCommit(1);
      await until(() => ends.mock.calls.length > before);
      return checkpoints.areOverdue;
    }
    expect([await copied(), await copied()]).toStrictEqual([false, true]);
    // A reader needs what is left over after that, so that only more than that counts.
    await checkpoints.caughtUp();
    expect(checkpoints.areOverdue).toBe(false);
    for (let count = 0; count < 11; count++) await commitOne();
    nowMs += 1_001;
    expect(checkpoints.areOverdue).toBe(true);
    letGo();
    await until(() => !checkpoints.areOverdue);
  });

  it('keep the log bounded while units are committed without a pause', async () => {
    checkpoints = started();
    // 200 MiB, of which 32 MiB, or what is committed in the second that a checkpoint may take, hold up the writer.
    for (let count = 0; count < 1_600; count++) await commitOne();
    expect(logBytes()).toBeLessThan(64 * MIB);
    expect(faults).toStrictEqual([]);
  });

  it('hold nobody up for a log that a reader needs, which begins anew once it is gone', async () => {
    checkpoints = started();
    const reader = new SqliteDatabase(path, { readonly: true });
    reader.exec('BEGIN');
    reader.prepare('SELECT COUNT(*) FROM notes').get();
    for (let count = 0; count < 800; count++) await commitOne();
    const grown = logBytes();
    expect(grown).toBeGreaterThan(100 * MIB);
    reader.close();
    await checkpoints.caughtUp();
    for (let count = 0; count < 100; count++) {
      await commitOne();
      await checkpoints.caughtUp();
    }
    expect(logBytes()).toBe(grown);
    expect(faults).toStrictEqual([]);
  });

  it.each([
    ['cannot be started', 'throw new Error("no")'],
    ['ends', 'process.exit(1)'],
    [
      'ends at the first checkpoint',
      'require("worker_threads").parentPort.once("message", () => process.exit(1))',
    ],
  ])('are made by SQLite itself when the thread %s', async (_, code) => {
    const thread = join(directory, 'thread.js');
    writeFileSync(thread, code);
    checkpoints = started(thread);
    await until(async () => {
      await commitOne();
      return faults.length > 0;
    });
    expect(automatic()).toBe(1_000);
    expect(checkpoints.areOverdue).toBe(false);
    await checkpoints.caughtUp();
  });

  it('are made by SQLite itself without a compiled thread', () => {
    checkpoints = started(join(directory, 'missing.js'));
    expect(automatic()).toBe(1_000);
  });

  it('report a fault, and go on', async () => {
    const thread = join(directory, 'thread.js');
    writeFileSync(
      thread,
      `const { parentPort } = require('worker_threads');
       const full = { fault: 'SQLITE_FULL' };
       const answers = [full, full, { pages: 9000 }, { pages: 1 }];
       parentPort.on('message', () => parentPort.postMessage(answers.shift() ?? { pages: 1 }));`,
    );
    checkpoints = started(thread);
    await until(async () => {
      await commitOne();
      return faults.length > 0;
    });
    expect(automatic()).toBe(1_000);
    await checkpoints.caughtUp();
    expect(faults).toMatchObject([{ code: 'SQLITE_FULL' }]);
    await checkpoints.caughtUp();
    expect([automatic(), checkpoints.areOverdue]).toStrictEqual([0, false]);
  });

  it('do not wait for a thread that never answers', async () => {
    const thread = join(directory, 'thread.js');
    writeFileSync(thread, `require('worker_threads').parentPort.on('message', () => undefined);`);
    checkpoints = started(thread, 50);
    await checkpoints.caughtUp();
    expect([automatic(), faults.length]).toStrictEqual([1_000, 1]);
  });
});
