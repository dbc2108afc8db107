import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
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

const started = (thread = join(build.directory, 'checkpoint.thread.js'), limitMs?: number) =>
  new SqliteCheckpoints(writer, (error) => faults.push(error), thread, limitMs);
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

  it('of an idle service are not made, and those of single units once a second', async () => {
    checkpoints = started();
    const before = statSync(path).size;
    await commitOne(1);
    expect(statSync(path).size).toBe(before);
    await until(async () => {
      await commitOne(1);
      return statSync(path).size > before;
    });
    expect(logBytes()).toBeGreaterThan(MIB);
  });

  it('keep the log bounded while units are committed without a pause', async () => {
    checkpoints = started();
    for (let count = 0; count < 4_800; count++) await commitOne();
    expect(logBytes()).toBeLessThan(450 * MIB);
    expect(faults).toStrictEqual([]);
  });

  it('hold nobody up for a log that a reader needs', async () => {
    checkpoints = started();
    const reader = new SqliteDatabase(path, { readonly: true });
    reader.exec('BEGIN');
    reader.prepare('SELECT COUNT(*) FROM notes').get();
    for (let count = 0; count < 800; count++) await commitOne();
    expect(logBytes()).toBeGreaterThan(64 * MIB);
    reader.close();
    const grown = logBytes();
    for (let count = 0; count < 4_800; count++) await commitOne();
    expect(logBytes()).toBeLessThan(grown + 450 * MIB);
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
