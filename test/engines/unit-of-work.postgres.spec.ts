import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ConcurrentChange,
  directClient,
  PostgresDataSource,
  postgresOptions,
  PostgresUnitOfWork,
  type Tx,
} from '@app/database';
import { readConfig } from '@app/kernel';
import { Client, type Pool } from 'pg';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';
import { CuttingProxy } from '../support/cutting-proxy';
import { bareDatabase, type TestDatabase } from '../support/database';
import { until } from '../support/until';

const directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
/** How long a statement may take, and a unit may wait for a lock or a connection. */
const LIMIT_MS = 600_000;
const LIMITS = {
  DATABASE_LOCK_TIMEOUT_MS: `${LIMIT_MS}`,
  DATABASE_STATEMENT_TIMEOUT_MS: `${LIMIT_MS}`,
};
/** How long a statement waits for the answer of a silent server. */
const ANSWER_MS = LIMIT_MS + 5_000;
let database: TestDatabase;
let proxy: CuttingProxy;
let source: PostgresDataSource;
let pool: Pool;
let unitOfWork: PostgresUnitOfWork;
const faults: unknown[] = [];
const warnings: Error[] = [];
const warned = (warning: Error): unknown => warnings.push(warning);

beforeAll(async () => {
  process.on('warning', warned);
  database = await bareDatabase(directory);
  await database.run('CREATE TABLE notes (id bigint PRIMARY KEY, text text NOT NULL)');
  proxy = await CuttingProxy.before(database.url);
  const config = readConfig({ DATABASE_URL: proxy.url, DATABASE_POOL_SIZE: '3', ...LIMITS });
  const onFault = (error: unknown): unknown => faults.push(error);
  source = new PostgresDataSource({ ...postgresOptions(proxy.url, config), poolErrorHandler: onFault });
  await source.initialize();
  pool = (source.driver as PostgresDriver).master as Pool;
  unitOfWork = new PostgresUnitOfWork(source, directClient(proxy.url, config), onFault);
});

/** Time passes for what has begun to wait. */
async function passes(ms: number, waiting: () => readonly Promise<unknown>[]) {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'performance'] });
  const outcomes = waiting().map(settled);
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  jest.advanceTimersByTime(ms);
  jest.useRealTimers();
  return Promise.all(outcomes);
}
beforeEach(async () => {
  await database.run('TRUNCATE notes');
  faults.length = 0;
});
afterEach(() => {
  jest.restoreAllMocks();
  expect({ busy: pool.totalCount - pool.idleCount, waiting: pool.waitingCount, warnings }).toStrictEqual({
    ...{ busy: 0, waiting: 0, warnings: [] },
  });
});
afterAll(async () => {
  process.off('warning', warned);
  await unitOfWork.drained();
  await unitOfWork.close();
  await source.destroy();
  await proxy.close();
  await database.drop();
  rmSync(directory, { recursive: true });
});

const insert = (tx: Tx, id: number) => tx.run('INSERT INTO notes (id, text) VALUES (?, ?)', id, `note ${id}`);
const ids = async () =>
  (await database.rows<{ id: number }>('SELECT id FROM notes ORDER BY id')).map(({ id }) => id);
const settled = async (promise: Promise<unknown>) => {
  try {
    return { value: await promise };
  } catch (error) {
    return { error };
  }
};
/** Waits until the server has closed it. */
const ended = (pid: number): Promise<void> =>
  until(
    async () => (await database.rows('SELECT 1 FROM pg_stat_activity WHERE pid = ?', pid)).length === 0,
    2,
  );
const backendOf = async (tx: Tx) =>
  (await tx.get<{ pid: number }>('SELECT pg_backend_pid() AS pid'))?.pid ?? 0;
const terminate = (pid: number) => database.run('SELECT pg_terminate_backend(?)', pid);
const unchanged = {
  error: { code: 'service_unavailable', message: expect.stringContaining('nothing was changed') as string },
};
const unknown = {
  error: { code: 'service_unavailable', message: expect.stringContaining('during the commit') as string },
};

/** Every `BEGIN` and `COMMIT` of a unit passes here. */
function onQuery(act: (text: string, client: Client) => Promise<unknown> | undefined): void {
  const query = Client.prototype.query as (this: Client, ...given: unknown[]) => unknown;
  jest.spyOn(Client.prototype, 'query').mockImplementation(function (this: Client, ...given: unknown[]) {
    const [statement] = given;
    const text = typeof statement === 'string' ? statement : (statement as { text: string }).text;
    return act(text, this) ?? query.apply(this, given);
  });
}

describe('PostgresUnitOfWork.write', () => {
  it('answers what the unit answers, and its rows are there', async () => {
    expect(await unitOfWork.write(async (tx) => `${await insert(tx, 1)} row`)).toBe('1 row');
    expect(await ids()).toStrictEqual([1]);
  });

  it('keeps every acknowledged unit and nothing of a failed one, however they are mixed (trap 1)', async () => {
    const fails = (id: number) => id % 7 === 0 || id % 11 === 0;
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, (_, id) =>
        settled(
          unitOfWork.write(async (tx) => {
            await insert(tx, id);
            if (id % 7 === 0) throw new Error(`unit ${id} fails`);
            if (id % 11 === 0) await insert(tx, id);
            return id;
          }),
        ),
      ),
    );
    const acknowledged = outcomes.flatMap((outcome, id) => ('error' in outcome ? [] : [id]));
    expect(acknowledged).toStrictEqual(outcomes.map((_, id) => id).filter((id) => !fails(id)));
    expect(await ids()).toStrictEqual(acknowledged);
  });

  it('runs a unit again for a collision of one of several statements that were sent together', async () => {
    let tries = 0;
    const collide = `DO $$ BEGIN RAISE EXCEPTION 'met' USING ERRCODE = '40P01'; END $$`;
    await unitOfWork.write(async (tx) => {
      if (++tries > 1) return;
      // The error of the second statement, which follows from the first one, arrives earlier.
      await Promise.all([(async () => (await tx.run(collide)) + 1)().then((n) => n), tx.run('SELECT 1')]);
    });
    expect(tries).toBe(2);
  });

  it('acknowledges no act before the COMMIT is answered', async () => {
    const order: string[] = [];
    onQuery((text) => void (text === 'COMMIT' && order.push('commit')));
    await unitOfWork
      .write(async (tx) => {
        tx.afterCommit(() => order.push(`after commit`));
        await insert(tx, 1);
      })
      .then(() => order.push('answered'));
    expect(order).toStrictEqual(['commit', 'after commit', 'answered']);
  });

  it('refuses a unit that went on after a statement had failed, and nothing of it remains', async () => {
    const outcome = await settled(
      unitOfWork.write(async (tx) => {
        await insert(tx, 1);
        await settled(tx.run('SELECT 1 / 0'));
      }),
    );
    expect(outcome).toMatchObject({ error: { message: expect.stringContaining('went on after') as string } });
    expect(await ids()).toStrictEqual([]);
  });

  it('takes nothing of a unit whose BEGIN failed, though its statements were on their way', async () => {
    onQuery((text, client) => (text.startsWith('BEGIN') ? client.query('SELECT 1 / 0') : undefined));
    expect(await settled(unitOfWork.write((tx) => insert(tx, 1)))).toMatchObject(unchanged);
    expect(await settled(unitOfWork.write(async () => 'nothing'))).toMatchObject(unchanged);
    expect(await ids()).toStrictEqual([]);
  });

  it('sends nothing of a unit whose BEGIN failed where DATABASE_URL is a pooler, whose session would carry it out', async () => {
    const config = readConfig({ DATABASE_URL: proxy.url, DATABASE_DIRECT_URL: database.url, ...LIMITS });
    const behind = await new PostgresDataSource(postgresOptions(proxy.url, config)).initialize();
    const units = new PostgresUnitOfWork(behind, {}, (fault) => faults.push(fault));
    onQuery((text, client) => (text.startsWith('BEGIN') ? client.query('SELECT 1 / 0') : undefined));
    expect(await settled(units.write((tx) => insert(tx, 1)))).toMatchObject(unchanged);
    expect(await ids()).toStrictEqual([]);
    expect(faults).toMatchObject([{ message: 'division by zero' }]);
    await units.close();
    await behind.destroy();
  });

  it('is not ended before its longest statement', async () => {
    const config = readConfig({ DATABASE_URL: proxy.url, DATABASE_STATEMENT_TIMEOUT_MS: '300000' });
    const patient = await new PostgresDataSource(postgresOptions(proxy.url, config)).initialize();
    const units = new PostgresUnitOfWork(patient, {}, (fault) => faults.push(fault));
    // 5 s for the answer to that statement, and 30 s for the others.
    expect(units).toMatchObject({ unitMaxMs: 335_000 });
    await units.close();
    await patient.destroy();
  });

  it('waits for a single read while units hold every connection to a pooler', async () => {
    const config = readConfig({
      DATABASE_URL: proxy.url,
      DATABASE_DIRECT_URL: database.url,
      DATABASE_POOL_SIZE: '2',
      ...LIMITS,
    });
    const behind = await new PostgresDataSource(postgresOptions(proxy.url, config)).initialize();
    const units = new PostgresUnitOfWork(behind, directClient(proxy.url, config), (fault) =>
      faults.push(fault),
    );
    let begun = 0;
    const unit = async (): Promise<unknown> => {
      begun++;
      await until(() => begun === 2);
      return units.get('SELECT 1 AS one');
    };
    const both = [units.write(unit), units.write(unit)];
    expect(await Promise.all(both.map(settled))).toStrictEqual([
      { value: { one: 1 } },
      { value: { one: 1 } },
    ]);
    await units.close();
    await behind.destroy();
  });

  it('keeps an acknowledged unit when its afterCommit throws', async () => {
    const unit = unitOfWork.write(async (tx) => {
      tx.afterCommit(() => {
        throw new Error('listener');
      });
      return insert(tx, 1);
    });
    expect(await unit).toBe(1);
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

  it('accepts no statement of a unit that has ended', async () => {
    let escaped: Tx | undefined;
    await unitOfWork.write(async (tx) => {
      escaped = tx;
    });
    expect(() => escaped?.run('DELETE FROM notes')).toThrow('has ended');
  });
});

describe('a connection that is lost', () => {
  it('before the answer to BEGIN: 503, nothing was changed', async () => {
    const cut = proxy.cutAt('BEGIN', 'before it is sent');
    expect(await settled(unitOfWork.write((tx) => insert(tx, 1)))).toMatchObject(unchanged);
    await cut;
    expect(await ids()).toStrictEqual([]);
  });

  it('between two statements, while the unit asks for nothing: 503, and the process stays up', async () => {
    const unit = unitOfWork.write(async (tx) => {
      await insert(tx, 1);
      const pid = await backendOf(tx);
      await terminate(pid);
      await ended(pid);
      await insert(tx, 2);
    });
    expect(await settled(unit)).toMatchObject(unchanged);
    expect(await ids()).toStrictEqual([]);
  });

  it('under a statement (57P01): 503', async () => {
    const unit = unitOfWork.write(async (tx) => {
      await insert(tx, 1);
      const pid = await backendOf(tx);
      await Promise.all([tx.run('SELECT pg_sleep(600)'), terminate(pid)]);
    });
    expect(await settled(unit)).toMatchObject(unchanged);
    expect(await ids()).toStrictEqual([]);
  });

  it.each([
    ['before it is sent', []],
    ['after it is answered', [1]],
  ] as const)('at the COMMIT, %s: the outcome is said to be unknown, since it is', async (when, left) => {
    const cut = proxy.cutAt('COMMIT\0', when);
    expect(await settled(unitOfWork.write((tx) => insert(tx, 1)))).toMatchObject(unknown);
    await cut;
    expect(await ids()).toStrictEqual(left);
  });

  it('while it was idle is replaced', async () => {
    await Promise.all([1, 2, 3].map((id) => unitOfWork.write((tx) => insert(tx, id))));
    proxy.cutAll();
    while (pool.totalCount > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(await unitOfWork.write((tx) => insert(tx, 4))).toBe(1);
  });

  it('without a sign makes reads wait no longer than the limit, and those after it get another', async () => {
    expect(await unitOfWork.get('SELECT 1 AS one')).toStrictEqual({ one: 1 });
    proxy.fallSilent(true);
    const outcomes = await passes(ANSWER_MS + 100, () => [1, 2].map(() => unitOfWork.get('SELECT 1 AS one')));
    for (const outcome of outcomes) expect(outcome).toMatchObject(unchanged);
    proxy.fallSilent(false);
    expect(await unitOfWork.get('SELECT 1 AS one')).toStrictEqual({ one: 1 });
  });
});

describe('a unit that meets others', () => {
  it('in a deadlock (40P01): both succeed, since one of them is run again', async () => {
    await unitOfWork.write((tx) => insert(tx, 1));
    await unitOfWork.write((tx) => insert(tx, 2));
    let tries = 0;
    const arrived: (() => void)[] = [];
    const both = async () => {
      if (++tries > 2) return;
      await new Promise<void>((go) => {
        arrived.push(go);
        if (arrived.length === 2) arrived.forEach((each) => each());
      });
    };
    const change = (first: number, second: number) =>
      unitOfWork.write(async (tx) => {
        await tx.run(`SET LOCAL deadlock_timeout = '20ms'`);
        await tx.run(`UPDATE notes SET text = text || '+' WHERE id = ?`, first);
        await both();
        await tx.run(`UPDATE notes SET text = text || '+' WHERE id = ?`, second);
      });
    await Promise.all([change(1, 2), change(2, 1)]);
    expect(tries).toBe(3);
    const texts = await database.rows<{ text: string }>('SELECT text FROM notes');
    expect(texts.map(({ text }) => text.slice(-2))).toStrictEqual(['++', '++']);
  });

  it.each([
    ['a serialization failure (40001)', () => Object.assign(new Error('again'), { code: '40001' })],
    ['a change of its own finding', () => new ConcurrentChange()],
  ])('again and again, by %s: is run six times and then refused with 503', async (_, error) => {
    let tries = 0;
    const unit = unitOfWork.write(async (tx) => {
      await insert(tx, ++tries);
      throw error();
    });
    expect(await settled(unit)).toMatchObject(unchanged);
    expect({ tries, left: await ids(), faults: faults.length }).toStrictEqual({
      tries: 6,
      left: [],
      faults: 1,
    });
  });

  /** What becomes of a unit with a limit that is shorter than the configured one, which it has otherwise. */
  const within = (limit: string, act: (tx: Tx) => Promise<unknown>) =>
    settled(
      unitOfWork.write(async (tx) => {
        const shown = await tx.get<{ ms: number }>(
          `SELECT setting::int AS ms FROM pg_settings WHERE name = ?`,
          limit,
        );
        expect(shown).toStrictEqual({ ms: LIMIT_MS });
        await tx.run(`SET LOCAL ${limit} = '100ms'`);
        return act(tx);
      }),
    );

  it('at a lock that is not free in time (55P03), or in a statement that takes too long (57014): 503', async () => {
    await unitOfWork.write((tx) => insert(tx, 1));
    const refused = await unitOfWork.write(async (holding) => {
      await holding.run('UPDATE notes SET id = 1 WHERE id = 1');
      return within('lock_timeout', (tx) => tx.run('DELETE FROM notes WHERE id = 1'));
    });
    expect(refused).toMatchObject(unchanged);
    const slow = await within('statement_timeout', (tx) => tx.run('SELECT pg_sleep(600)'));
    expect(slow).toMatchObject(unchanged);
    expect(await ids()).toStrictEqual([1]);
  });

  it('when every connection is taken: 503 after the limit, and all of them come back', async () => {
    let free = (): void => undefined;
    const held = new Promise<void>((resolve) => (free = resolve));
    let holding = 0;
    const holders = [1, 2, 3].map((id) =>
      unitOfWork.write(async (tx) => {
        await insert(tx, id);
        holding++;
        return held;
      }),
    );
    await until(() => holding === 3, 2);
    const [refused] = await passes(LIMIT_MS + 100, () => [unitOfWork.write((tx) => insert(tx, 4))]);
    expect(refused).toMatchObject(unchanged);
    free();
    await Promise.all(holders);
    expect(await ids()).toStrictEqual([1, 2, 3]);
  });

  it.each(['25006', '25P03', '25P04', '53300', '53100', '57P02', '57P03', '58030', '08006'])(
    'and every failure that may pass (%s): 503',
    async (code) => {
      const unit = unitOfWork.write(async () => Promise.reject(Object.assign(new Error('x'), { code })));
      expect(await settled(unit)).toMatchObject(unchanged);
    },
  );

  it('in a transaction that the server ended for its idleness: 503', async () => {
    const unit = unitOfWork.write(async (tx) => {
      await tx.run(`SET LOCAL idle_in_transaction_session_timeout = '50ms'`);
      await insert(tx, 1);
      const pid = await backendOf(tx);
      await ended(pid);
      await insert(tx, 2);
    });
    expect(await settled(unit)).toMatchObject(unchanged);
    expect(await ids()).toStrictEqual([]);
  });
});

describe('PostgresUnitOfWork.read and snapshot', () => {
  it('cannot write, and say so as a mistake of their author', async () => {
    for (const way of ['read', 'snapshot'] as const)
      expect(await settled(unitOfWork[way]((tx) => insert(tx, 1)))).toMatchObject({
        error: { code: '25006' },
      });
  });

  it('see one state from beginning to end, whatever is committed meanwhile', async () => {
    const counts = await unitOfWork.snapshot(async (tx) => {
      const first = await tx.all('SELECT * FROM notes');
      await unitOfWork.write((writing) => insert(writing, 1));
      return [first.length, (await tx.all('SELECT * FROM notes')).length];
    });
    expect(counts).toStrictEqual([0, 0]);
    expect(await ids()).toStrictEqual([1]);
  });
});
