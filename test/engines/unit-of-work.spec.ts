import fs, { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ConcurrentChange,
  databaseUnavailable,
  keysPath,
  SqliteConnection,
  SqliteDatabase,
  SqliteKeys,
  sqliteOptions,
  SqliteReading,
  SqliteTurnReader,
  SqliteUnitOfWork,
  type Tx,
} from '@app/database';
import { StartError, ApiError } from '@app/kernel';

import { DataSource } from 'typeorm';

const directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
const path = join(directory, 'lethe.db');
const open = async (access: 'write' | 'read') =>
  new SqliteConnection(await new DataSource(sqliteOptions(path, access)).initialize());

let writer: SqliteConnection;
let keys: SqliteKeys;
let reader: SqliteConnection;
let turnReader: SqliteConnection;
let unitOfWork: SqliteUnitOfWork;
const faults: unknown[] = [];

beforeAll(async () => {
  writer = await open('write');
  writer.database.exec('CREATE TABLE notes (id integer PRIMARY KEY, text text NOT NULL)');
  writer.database.exec('CREATE TABLE keys.secrets (id integer PRIMARY KEY, text text NOT NULL)');
  writer.database.exec('DETACH DATABASE keys');
  keys = new SqliteKeys(keysPath(path), (error) => faults.push(error));
  reader = await open('read');
  turnReader = await open('read');
  const readers = { reader, turnReader: new SqliteTurnReader(turnReader), open: () => open('read') };
  unitOfWork = new SqliteUnitOfWork(writer, keys, readers, (error) => faults.push(error));
});
beforeEach(async () => {
  // A machine that is stopped would end a group earlier.
  jest.spyOn(performance, 'now').mockReturnValue(0);
  await unitOfWork.write(async (tx) => {
    await tx.run('DELETE FROM notes');
    await tx.run('DELETE FROM keys.secrets');
  });
  faults.length = 0;
});
afterEach(() => jest.restoreAllMocks());
afterAll(async () => {
  await unitOfWork.drained();
  await reader.dataSource.destroy();
  await turnReader.dataSource.destroy();
  await writer.dataSource.destroy();
  keys.database.close();
  rmSync(directory, { recursive: true });
});

const insert = (tx: Tx, id: number) => tx.run('INSERT INTO notes (id, text) VALUES (?, ?)', id, `note ${id}`);
const ids = () =>
  unitOfWork.read(async (tx) =>
    (await tx.all<{ id: number }>('SELECT id FROM notes ORDER BY id')).map(({ id }) => id),
  );
const secrets = () =>
  unitOfWork.read(async (tx) =>
    (await tx.all<{ id: number }>('SELECT id FROM keys.secrets ORDER BY id')).map(({ id }) => id),
  );
const insertBoth = async (tx: Tx, id: number) => {
  await insert(tx, id);
  return tx.run('INSERT INTO keys.secrets (id, text) VALUES (?, ?)', id, `secret ${id}`);
};
const settled = async (promise: Promise<unknown>) => {
  try {
    return { value: await promise };
  } catch (error) {
    return { error };
  }
};

describe('SqliteUnitOfWork.write', () => {
  it('answers what the unit answers, and its rows are there', async () => {
    expect(await unitOfWork.write(async (tx) => `${await insert(tx, 1)} row`)).toBe('1 row');
    expect(await ids()).toStrictEqual([1]);
  });

  it('keeps every acknowledged unit and nothing of a failed one, however they are mixed', async () => {
    const units = Array.from({ length: 400 }, (_, id) =>
      settled(
        unitOfWork.write(async (tx) => {
          await insert(tx, id);
          if (id % 3 === 1) await Promise.resolve();
          if (id % 7 === 0) throw new Error(`unit ${id} fails`);
          if (id % 11 === 0) await insert(tx, id);
          return id;
        }),
      ),
    );
    const outcomes = await Promise.all(units);
    const fails = (id: number) => id % 7 === 0 || id % 11 === 0;
    expect(outcomes.map((outcome) => 'error' in outcome)).toStrictEqual(outcomes.map((_, id) => fails(id)));
    expect(await ids()).toStrictEqual(outcomes.map((_, id) => id).filter((id) => !fails(id)));
  });

  it('rolls a failing unit back alone: its neighbours in the group stay (trap 1)', async () => {
    const before = settled(unitOfWork.write((tx) => insert(tx, 1)));
    const failing = settled(
      unitOfWork.write(async (tx) => {
        await insert(tx, 2);
        throw new Error('refused');
      }),
    );
    const after = settled(unitOfWork.write((tx) => insert(tx, 3)));
    expect(await before).toStrictEqual({ value: 1 });
    expect(await failing).toStrictEqual({ error: new Error('refused') });
    expect(await after).toStrictEqual({ value: 1 });
    expect(await ids()).toStrictEqual([1, 3]);
  });

  it('rolls back a unit whose own statement fails, and hands its error on', async () => {
    await unitOfWork.write((tx) => insert(tx, 1));
    const outcome = await settled(
      unitOfWork.write(async (tx) => {
        await insert(tx, 2);
        await insert(tx, 1);
      }),
    );
    expect(outcome).toMatchObject({ error: { code: 'SQLITE_CONSTRAINT_PRIMARYKEY' } });
    expect(await ids()).toStrictEqual([1]);
  });

  it("works through TypeORM's manager in the same transaction", async () => {
    await settled(
      unitOfWork.write(async (tx) => {
        await tx.manager.query(`INSERT INTO notes (id, text) VALUES (1, 'x')`);
        throw new Error('refused');
      }),
    );
    expect(await ids()).toStrictEqual([]);
  });

  it('runs units strictly one after the other', async () => {
    let running = 0;
    const overlaps = await Promise.all(
      Array.from({ length: 50 }, () =>
        unitOfWork.write(async (tx) => {
          running += 1;
          await tx.get('SELECT 1');
          await Promise.resolve();
          const seen = running;
          running -= 1;
          return seen;
        }),
      ),
    );
    expect(new Set(overlaps)).toStrictEqual(new Set([1]));
  });

  it('loses no update: every unit reads what the one before it wrote', async () => {
    await unitOfWork.write((tx) => tx.run(`INSERT INTO notes (id, text) VALUES (1, '0')`));
    await Promise.all(
      Array.from({ length: 100 }, () =>
        unitOfWork.write(async (tx) => {
          const row = await tx.get<{ text: string }>('SELECT text FROM notes WHERE id = 1');
          await Promise.resolve();
          await tx.run('UPDATE notes SET text = ? WHERE id = 1', String(Number(row?.text) + 1));
        }),
      ),
    );
    const row = await unitOfWork.read((tx) =>
      tx.get<{ text: string }>('SELECT text FROM notes WHERE id = 1'),
    );
    expect(row).toStrictEqual({ text: '100' });
  });

  it('commits many waiting units with one COMMIT, and no more than 256', async () => {
    const commits = jest.spyOn(writer, 'prepared');
    await Promise.all(Array.from({ length: 600 }, (_, id) => unitOfWork.write((tx) => insert(tx, id))));
    expect(commits.mock.calls.filter(([sql]) => sql === 'COMMIT')).toHaveLength(3);
  });

  it('acknowledges no act before the COMMIT', async () => {
    const order: string[] = [];
    const prepared = writer.prepared.bind(writer);
    jest.spyOn(writer, 'prepared').mockImplementation((sql) => {
      if (sql === 'COMMIT') order.push('commit');
      return prepared(sql);
    });
    await Promise.all([
      unitOfWork.write((tx) => insert(tx, 1)).then(() => order.push('first')),
      settled(unitOfWork.write(() => Promise.reject(new Error('refused')))).then(() => order.push('refused')),
    ]);
    expect(order).toStrictEqual(['commit', 'first', 'refused']);
  });

  it('refuses everyone with 503 when the COMMIT of their group fails, and nothing of it remains', async () => {
    const prepared = writer.prepared.bind(writer);
    let broken = true;
    jest.spyOn(writer, 'prepared').mockImplementation((sql) => {
      if (sql === 'COMMIT' && broken) {
        broken = false;
        throw Object.assign(new Error('disk full'), { code: 'SQLITE_FULL' });
      }
      return prepared(sql);
    });
    const told: string[] = [];
    const outcomes = await Promise.all([
      settled(
        unitOfWork.write(async (tx) => {
          tx.afterCommit(() => told.push('committed'));
          return insert(tx, 1);
        }),
      ),
      settled(unitOfWork.write((tx) => insert(tx, 2))),
      settled(unitOfWork.write(() => Promise.reject(new Error('refused')))),
    ]);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ error: { code: 'service_unavailable' } });
    expect(told).toStrictEqual([]);
    expect(await ids()).toStrictEqual([]);
    expect(await unitOfWork.write((tx) => insert(tx, 3))).toBe(1);
    expect(faults).toHaveLength(1);
  });

  it('refuses everyone of a group whose transaction the engine has ended', async () => {
    const outcomes = await Promise.all([
      settled(unitOfWork.write((tx) => insert(tx, 1))),
      settled(
        unitOfWork.write(async (tx) => {
          await insert(tx, 2);
          writer.database.exec('ROLLBACK');
          throw Object.assign(new Error('disk full'), { code: 'SQLITE_FULL' });
        }),
      ),
    ]);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ error: { code: 'service_unavailable' } });
    expect(await ids()).toStrictEqual([]);
    expect(await unitOfWork.write((tx) => insert(tx, 3))).toBe(1);
  });

  it('answers 503 while another program holds the file, and works again afterwards', async () => {
    const other = await open('write');
    other.database.exec('BEGIN IMMEDIATE');
    const outcome = await settled(unitOfWork.write((tx) => insert(tx, 1)));
    other.database.exec('ROLLBACK');
    await other.dataSource.destroy();
    expect(outcome).toMatchObject({ error: expect.any(ApiError) as unknown });
    expect(outcome).toMatchObject({ error: { code: 'service_unavailable' } });
    expect(await unitOfWork.write((tx) => insert(tx, 1))).toBe(1);
  });

  it('ends a unit that awaits something else than its statements, undoes it and serves the next', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'performance'] });
    let entered = (): void => undefined;
    const started = new Promise<void>((resolve) => (entered = resolve));
    const stuck = settled(
      unitOfWork.write(async (tx) => {
        await insert(tx, 1);
        entered();
        await new Promise(() => undefined);
      }),
    );
    const next = unitOfWork.write((tx) => insert(tx, 2));
    await started;
    jest.advanceTimersByTime(60_000);
    jest.useRealTimers();
    expect(await stuck).toMatchObject({ error: { message: expect.stringContaining('too long') as unknown } });
    expect(await next).toBe(1);
    expect(await ids()).toStrictEqual([2]);
  });

  it('accepts no statement of a unit that has ended', async () => {
    let escaped: Tx | undefined;
    await unitOfWork.write(async (tx) => {
      escaped = tx;
    });
    expect(() => escaped?.run('DELETE FROM notes')).toThrow('has ended');
    expect(() => escaped?.manager).toThrow('has ended');
    expect(() => escaped?.afterCommit(() => undefined)).toThrow('has ended');
  });

  it('runs a unit again that collides, without its first rows, and refuses it with 503 after six runs', async () => {
    let tries = 0;
    const collide = (times: number) =>
      unitOfWork.write(async (tx) => {
        await insertBoth(tx, ++tries);
        if (tries <= times) throw new ConcurrentChange();
        return tries;
      });
    expect(await Promise.all([collide(2), unitOfWork.write((tx) => insert(tx, 50))])).toStrictEqual([3, 1]);
    expect([await ids(), await secrets()]).toStrictEqual([[3, 50], [3]]);
    expect(faults).toStrictEqual([]);
    tries = 10;
    const refused = await settled(collide(100));
    expect(refused).toMatchObject({ error: { code: 'service_unavailable' } });
    expect({ tries, left: await ids(), faults: faults.length }).toStrictEqual({
      tries: 16,
      left: [3, 50],
      faults: 1,
    });
  });

  it('calls afterCommit between the commit and the answer, and never for a failed unit', async () => {
    const committed = () => reader.database.prepare('SELECT COUNT(*) FROM notes').pluck().get();
    const order: string[] = [];
    await Promise.all([
      unitOfWork
        .write(async (tx) => {
          tx.afterCommit(() => order.push(`after commit ${String(committed())}`));
          await insert(tx, 1);
        })
        .then(() => order.push('answered')),
      settled(
        unitOfWork.write(async (tx) => {
          tx.afterCommit(() => order.push('never'));
          throw new Error('refused');
        }),
      ),
    ]);
    expect(order).toStrictEqual(['after commit 1', 'answered']);
  });

  it('keeps an acknowledged unit when its afterCommit throws', async () => {
    const answered = unitOfWork.write(async (tx) => {
      tx.afterCommit(() => {
        throw new Error('listener');
      });
      return insert(tx, 1);
    });
    expect(await answered).toBe(1);
    expect(await ids()).toStrictEqual([1]);
    expect(faults).toStrictEqual([new Error('listener')]);
  });

  it('keeps an acknowledged unit, and its afterCommit runs, when the metrics throw', async () => {
    jest.spyOn(unitOfWork['metrics'], 'observe').mockImplementation(() => {
      throw new Error('metrics');
    });
    const ran: string[] = [];
    const answered = unitOfWork.write(async (tx) => {
      tx.afterCommit(() => ran.push('afterCommit'));
      return insert(tx, 1);
    });
    expect(await answered).toBe(1);
    expect(await ids()).toStrictEqual([1]);
    expect({ ran, faults }).toStrictEqual({ ran: ['afterCommit'], faults: [new Error('metrics')] });
  });
});

describe('SqliteUnitOfWork.ping', () => {
  const refuses = (code: string) =>
    jest.spyOn(fs, 'accessSync').mockImplementation(() => {
      throw Object.assign(new Error(code), { code });
    });

  it('is refused on a file system that is read-only now, whose data can still be read', async () => {
    refuses('EROFS');
    await expect(unitOfWork.ping()).rejects.toMatchObject({ status: 503 });
    expect(String(faults)).toContain('on a file system that is read-only now');
    expect(await unitOfWork.snapshot((tx) => tx.all('SELECT id FROM notes'))).toEqual([]);
  });

  it('answers while the files can be written, whatever their rights are now', async () => {
    await unitOfWork.ping();
    refuses('EACCES');
    await unitOfWork.ping();
    expect(faults).toEqual([]);
  });
});

describe('SqliteUnitOfWork.read and snapshot', () => {
  it('see nothing that is not committed', async () => {
    const seen: unknown[] = [];
    await unitOfWork.write(async (tx) => {
      await insert(tx, 1);
      seen.push(await ids());
      seen.push(await unitOfWork.snapshot((read) => read.all('SELECT * FROM notes')));
    });
    expect(seen).toStrictEqual([[], []]);
    expect(await ids()).toStrictEqual([1]);
  });

  it('cannot write', async () => {
    expect(await settled(unitOfWork.read((tx) => insert(tx, 1)))).toHaveProperty('error');
    expect(await settled(unitOfWork.snapshot((tx) => insert(tx, 1)))).toHaveProperty('error');
    expect(await ids()).toStrictEqual([]);
  });

  it('see one state from beginning to end, whatever is committed meanwhile', async () => {
    await unitOfWork.write((tx) => insert(tx, 1));
    const counts = await unitOfWork.snapshot(async (tx) => {
      const first = await tx.all('SELECT * FROM notes');
      await unitOfWork.write((writing) => insert(writing, 2));
      return [first.length, (await tx.all('SELECT * FROM notes')).length];
    });
    expect(counts).toStrictEqual([1, 1]);
    expect(await ids()).toStrictEqual([1, 2]);
  });

  it('run four long reads at the same time, and further ones after these', async () => {
    let [begun, most] = [0, 0];
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const reads = Array.from({ length: 10 }, () =>
      unitOfWork.snapshot(async (tx) => {
        most = Math.max(most, ++begun);
        if (begun === 4) for (let turns = 0; turns < 500; turns++) await new Promise(setImmediate);
        if (begun >= 4) open();
        await gate;
        expect(await tx.all('SELECT * FROM notes')).toEqual([]);
        begun--;
      }),
    );
    await Promise.all([...reads, settled(unitOfWork.snapshot((tx) => insert(tx, 1)))]);
    expect([begun, most]).toEqual([0, 4]);
  });

  it('answer 503, and report damage, when a connection for a long read cannot be opened', async () => {
    const damage = Object.assign(new Error('planted'), { code: 'SQLITE_IOERR_READ' });
    const reported: unknown[] = [];
    const [all, one] = [await open('read'), await open('read')];
    const readers = {
      reader: all,
      turnReader: new SqliteTurnReader(one),
      open: () => Promise.reject(damage),
    };
    const failing = new SqliteReading(readers, (error) => reported.push(error));
    expect(await settled(failing.snapshot((tx) => tx.all('SELECT * FROM notes')))).toMatchObject({
      error: { code: 'service_unavailable' },
    });
    expect(reported).toStrictEqual([damage]);
    await failing.close();
  });

  it('end, also those that wait for a connection, before the files are closed', async () => {
    const [all, one] = [await open('read'), await open('read')];
    const readers = { reader: all, turnReader: new SqliteTurnReader(one), open: () => open('read') };
    const closing = new SqliteReading(readers);
    const order: string[] = [];
    let end: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (end = resolve));
    const reads = Array.from({ length: 6 }, () =>
      closing.snapshot(() => gate).then(() => order.push('read')),
    );
    const closed = closing.close().then(() => order.push('closed'));
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    end();
    await Promise.all([...reads, closed]);
    expect(order).toStrictEqual([...Array<string>(6).fill('read'), 'closed']);
  });

  it('see what was acknowledged before they were asked', async () => {
    for (let id = 1; id <= 50; id++) {
      await unitOfWork.write((tx) => insert(tx, id));
      expect(await ids()).toHaveLength(id);
    }
  });

  it('delay no other unit when they fail', async () => {
    expect(await settled(unitOfWork.read(() => Promise.reject(new Error('refused'))))).toStrictEqual({
      error: new Error('refused'),
    });
    expect(await ids()).toStrictEqual([]);
  });
});

describe('data and keys', () => {
  /** The next COMMIT of `connection` fails. */
  function failsToCommit(connection: SqliteConnection | SqliteKeys): void {
    const prepared = connection.prepared.bind(connection);
    let broken = true;
    jest.spyOn(connection, 'prepared').mockImplementation((sql) => {
      if (sql !== 'COMMIT' || !broken) return prepared(sql);
      broken = false;
      throw Object.assign(new Error('disk full'), { code: 'SQLITE_FULL' });
    });
  }

  const both = async () => ({ notes: await ids(), secrets: await secrets() });

  it('are kept of every acknowledged unit, and undone of a failed one alone', async () => {
    const outcomes = await Promise.all(
      [1, 2, 3].map((id) =>
        settled(
          unitOfWork.write(async (tx) => {
            await insertBoth(tx, id);
            if (id === 2) throw new Error('refused');
            return id;
          }),
        ),
      ),
    );
    expect(outcomes).toStrictEqual([{ value: 1 }, { error: new Error('refused') }, { value: 3 }]);
    expect(await both()).toStrictEqual({ notes: [1, 3], secrets: [1, 3] });
  });

  it('are committed with the keys first, and only then acknowledged', async () => {
    const order: string[] = [];
    for (const [name, connection] of [
      ['keys', keys],
      ['data', writer],
    ] as const) {
      const prepared = connection.prepared.bind(connection);
      jest.spyOn(connection, 'prepared').mockImplementation((sql) => {
        if (sql === 'COMMIT') order.push(name);
        return prepared(sql);
      });
    }
    await unitOfWork.write((tx) => insert(tx, 1)).then(() => order.push('answered'));
    await unitOfWork.write((tx) => insertBoth(tx, 2)).then(() => order.push('answered'));
    expect(order).toStrictEqual(['data', 'answered', 'keys', 'data', 'answered']);
  });

  it('are both undone when the COMMIT of the keys fails, and everyone is refused', async () => {
    failsToCommit(keys);
    const outcomes = await Promise.all([
      settled(unitOfWork.write((tx) => insertBoth(tx, 1))),
      settled(unitOfWork.write((tx) => insert(tx, 2))),
    ]);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ error: { code: 'service_unavailable' } });
    expect(await both()).toStrictEqual({ notes: [], secrets: [] });
    expect(await unitOfWork.write((tx) => insertBoth(tx, 3))).toBe(1);
    expect(await both()).toStrictEqual({ notes: [3], secrets: [3] });
  });

  it('keep a new key, and no data, when the COMMIT of the data fails', async () => {
    failsToCommit(writer);
    const outcome = await settled(unitOfWork.write((tx) => insertBoth(tx, 1)));
    expect(outcome).toMatchObject({
      error: {
        code: 'service_unavailable',
        message: expect.stringContaining('nothing was changed') as string,
      },
    });
    expect(await both()).toStrictEqual({ notes: [], secrets: [1] });
    expect(await unitOfWork.write((tx) => insertBoth(tx, 2))).toBe(1);
    expect(await both()).toStrictEqual({ notes: [2], secrets: [1, 2] });
  });

  it('are said to be unknown when also the log cannot be settled after it, until it can be', async () => {
    failsToCommit(writer);
    const pragma = writer.database.pragma.bind(writer.database);
    let isBroken = true;
    jest.spyOn(writer.database, 'pragma').mockImplementation((...given) => {
      if (isBroken) throw Object.assign(new Error('disk full'), { code: 'SQLITE_FULL' });
      return pragma(...given);
    });
    const outcomes = [
      await settled(unitOfWork.write((tx) => insertBoth(tx, 1))),
      await settled(unitOfWork.write((tx) => insertBoth(tx, 2))),
    ];
    expect(outcomes).toMatchObject([
      {
        error: {
          message: expect.stringContaining(
            'The database failed during the commit: look whether it took effect',
          ) as string,
        },
      },
      { error: { code: 'service_unavailable' } },
    ]);
    isBroken = false;
    expect(await unitOfWork.write((tx) => insert(tx, 3))).toBe(1);
    expect(await ids()).toStrictEqual([3]);
  });

  it('are refused for the whole group when the engine has ended the transaction of the keys', async () => {
    const outcomes = await Promise.all([
      settled(unitOfWork.write((tx) => insertBoth(tx, 1))),
      settled(
        unitOfWork.write(async (tx) => {
          await insertBoth(tx, 2);
          keys.database.exec('ROLLBACK');
          throw Object.assign(new Error('disk full'), { code: 'SQLITE_FULL' });
        }),
      ),
    ]);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ error: { code: 'service_unavailable' } });
    expect(await both()).toStrictEqual({ notes: [], secrets: [] });
    expect(await unitOfWork.write((tx) => insertBoth(tx, 3))).toBe(1);
    expect(await both()).toStrictEqual({ notes: [3], secrets: [3] });
  });
});

describe('SqliteUnitOfWork.scrubKeys', () => {
  const marker = 'marker-of-the-erased';
  const filesWithMarker = () =>
    ['', '-wal'].filter((suffix) => readFileSync(keysPath(path) + suffix).includes(marker));

  it('leaves nothing of a destroyed key in the file or its log, also while a long read goes on', async () => {
    await unitOfWork.snapshot(async (tx) => {
      await tx.all('SELECT * FROM notes');
      await unitOfWork.write((writing) =>
        writing.run('INSERT INTO keys.secrets (id, text) VALUES (1, ?)', marker),
      );
      expect(filesWithMarker()).not.toStrictEqual([]);
      await unitOfWork.write((writing) => writing.run('DELETE FROM keys.secrets'));
      await unitOfWork.scrubKeys();
      expect(filesWithMarker()).toStrictEqual([]);
    });
    expect(faults).toStrictEqual([]);
  });

  it('is refused while another process reads the keys, holds up no writer, and works afterwards', async () => {
    const other = new SqliteDatabase(keysPath(path), { readonly: true });
    other.exec('BEGIN');
    other.prepare('SELECT COUNT(*) FROM secrets').get();
    await unitOfWork.write((tx) => insertBoth(tx, 1));
    const scrubbed = settled(unitOfWork.scrubKeys());
    expect(await unitOfWork.write((tx) => insertBoth(tx, 2))).toBe(1);
    expect(await scrubbed).toMatchObject({ error: { code: 'service_unavailable' } });
    expect(faults).toHaveLength(1);
    other.close();
    await unitOfWork.scrubKeys();
    expect(faults).toHaveLength(1);
  });
});

describe('every connection', () => {
  it('commits to the disk, overwrites what is deleted and holds foreign keys', () => {
    for (const { database } of [writer, reader, keys]) {
      expect(database.pragma('synchronous', { simple: true })).toBe(2);
      expect(database.pragma('secure_delete', { simple: true })).toBe(1);
      expect(database.pragma('foreign_keys', { simple: true })).toBe(1);
      expect(database.pragma('journal_mode', { simple: true })).toBe('wal');
    }
  });
});

describe('a unit of work that reads beside another process', () => {
  it('sees what that commits, refuses what writes, and says that it can remove nothing', async () => {
    const [all, one] = [await open('read'), await open('read')];
    const readers = { reader: all, turnReader: new SqliteTurnReader(one), open: () => open('read') };
    const beside = new SqliteReading(readers);
    await unitOfWork.write((tx) => insert(tx, 1));
    const notes = (tx: Tx) => tx.all<{ id: number }>('SELECT id FROM notes');
    for (const way of ['read', 'write', 'snapshot'] as const)
      expect(await beside[way](notes)).toStrictEqual([{ id: 1 }]);
    expect(await beside.get('SELECT id FROM notes')).toStrictEqual({ id: 1 });
    await expect(beside.write((tx) => insert(tx, 2))).rejects.toThrow(StartError);
    expect(await settled(beside.scrubKeys())).toMatchObject({ error: { code: 'service_unavailable' } });
    expect(await ids()).toStrictEqual([1]);
    await beside.close();
  });
});

describe('a unit that destroys keys', () => {
  const logBytes = (): number => statSync(`${keysPath(path)}-wal`).size;
  const destroy = (tx: Tx): Promise<number> => tx.run('DELETE FROM keys.secrets WHERE id = 1');

  beforeEach(async () => {
    await unitOfWork.write((tx) => insertBoth(tx, 1));
    await unitOfWork.scrubKeys();
  });

  it('runs its second part when the key is out of the file and its log, and before its data is committed', async () => {
    const seen: unknown[] = [];
    const second = async (tx: Tx, destroyed: number, isScrubbed: boolean): Promise<string> => {
      const file = new SqliteDatabase(keysPath(path), { readonly: true });
      const { total } = file.prepare('SELECT COUNT(*) AS total FROM secrets').get() as { total: number };
      file.close();
      seen.push(destroyed, isScrubbed, total, logBytes(), await ids());
      expect(readFileSync(keysPath(path)).includes('secret 1')).toBe(false);
      await insert(tx, 3);
      return 'done';
    };
    const earlier = unitOfWork.write((tx) => insertBoth(tx, 2));
    const destroying = unitOfWork.destroyKeys(destroy, second);
    const later = unitOfWork.write((tx) => insertBoth(tx, 4));
    await earlier;
    expect(await destroying).toBe('done');
    expect(seen).toStrictEqual([1, true, 1, 0, [1]]);
    await later;
    expect([await ids(), await secrets()]).toStrictEqual([
      [1, 2, 3, 4],
      [2, 4],
    ]);
  });

  it('is told that the key is still in the log while a reader of the keys is open', async () => {
    const file = new SqliteDatabase(keysPath(path), { readonly: true });
    file.exec('BEGIN');
    file.prepare('SELECT COUNT(*) FROM secrets').get();
    const answer = await unitOfWork.destroyKeys(destroy, async (_, __, isScrubbed) => isScrubbed);
    file.close();
    expect(answer).toBe(false);
    expect(await secrets()).toStrictEqual([]);
  });

  it('keeps the first part where the second fails, which then runs as if nothing was scrubbed', async () => {
    const given: boolean[] = [];
    const second = async (tx: Tx, _: number, isScrubbed: boolean): Promise<void> => {
      given.push(isScrubbed);
      await insert(tx, isScrubbed ? 2 : 3);
      if (isScrubbed) throw new Error('broken');
    };
    const beside = unitOfWork.write((tx) => insert(tx, 4));
    const failing = unitOfWork.destroyKeys(async (tx) => (await insert(tx, 5), destroy(tx)), second);
    await expect(failing).rejects.toThrow('broken');
    await beside;
    expect(given).toStrictEqual([true, false]);
    expect([await ids(), await secrets()]).toStrictEqual([[1, 3, 4, 5], []]);
  });

  it('undoes the data of its group where the second part fails both times: the key is destroyed', async () => {
    const second = () => Promise.reject(new Error('broken'));
    const beside = unitOfWork.write((tx) => insert(tx, 4));
    const failing = unitOfWork.destroyKeys(async (tx) => (await insert(tx, 5), destroy(tx)), second);
    await expect(failing).rejects.toMatchObject({ code: 'service_unavailable' });
    await expect(beside).rejects.toMatchObject({ code: 'service_unavailable' });
    expect([await ids(), await secrets()]).toStrictEqual([[1], []]);
    await unitOfWork.write((tx) => insert(tx, 6));
    expect(await ids()).toStrictEqual([1, 6]);
  });

  it('keeps nothing of its data where the engine has ended the transaction in the second part', async () => {
    const second = async (tx: Tx, _: number, isScrubbed: boolean): Promise<void> => {
      if (!isScrubbed) return void (await insert(tx, 3));
      // As SQLite does when the disk is full or fails.
      writer.database.exec('ROLLBACK');
      throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
    };
    const beside = unitOfWork.write((tx) => insert(tx, 4));
    const failing = unitOfWork.destroyKeys(async (tx) => (await insert(tx, 5), destroy(tx)), second);
    await expect(failing).rejects.toMatchObject({ code: 'service_unavailable' });
    await expect(beside).rejects.toMatchObject({ code: 'service_unavailable' });
    expect([await ids(), await secrets()]).toStrictEqual([[1], []]);
    await unitOfWork.write((tx) => insert(tx, 6));
    expect(await ids()).toStrictEqual([1, 6]);
  });

  it('does not say that nothing was changed where the second part fails and is kept in its second run', async () => {
    const second = async (tx: Tx, _: number, isScrubbed: boolean): Promise<void> => {
      await insert(tx, 3);
      if (isScrubbed) throw databaseUnavailable();
    };
    const failing = unitOfWork.destroyKeys(destroy, second);
    await expect(failing).rejects.toThrow('part of it is done');
    expect(await ids()).toStrictEqual([1, 3]);
  });

  it('has no second part where the first fails', async () => {
    const second = jest.fn();
    const failing = unitOfWork.destroyKeys(async (tx) => {
      await destroy(tx);
      throw new Error('broken');
    }, second);
    await expect(failing).rejects.toThrow('broken');
    expect(second).not.toHaveBeenCalled();
    expect([await ids(), await secrets()]).toStrictEqual([[1], [1]]);
  });
});

describe('two groups of units one after the other', () => {
  it('leave several turns of the event loop to others between them', async () => {
    let turns = 0;
    let isCounting = true;
    const turn = (): void => {
      turns++;
      if (isCounting) setImmediate(turn);
    };
    await unitOfWork.write((tx) => insert(tx, 1));
    const from = await unitOfWork.write(async (tx) => {
      turn();
      await insert(tx, 2);
      return turns;
    });
    const until = await unitOfWork.write(async () => turns);
    isCounting = false;
    // They are counted, whatever the time they take.
    expect(until - from).toBeGreaterThanOrEqual(6);
  });
});
