import { setImmediate as nextTurn } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { UnitOfWork } from '@app/database';
import { ErasureReplay } from '@app/gdpr';
import { Clock, Degradations, firstIdAt, Metrics, NO_METRICS } from '@app/kernel';
import { Health, startProcess } from '@app/runtime';
import { SubjectDataHolders } from '@app/crypto';
import type { Bot } from '../support/bot';
import { expectFailure } from '../support/expected';
import { UNKNOWN_UUID } from '../support/inputs';
import { keyIsRewritten } from '../support/key-rewrites';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';
import { SqlLog } from '../support/sql-log';

const service = useServiceInProcess();
let bot: Bot;
let who: SubjectIds;
let requestId: string;

/** A user is erased, and an older backup brings back the data, but not the request. */
beforeEach(async () => {
  bot = await service.registerBot();
  who = subject();
  await bot.hasCategory('profile');
  await holds();
  requestId = await bot.hasForgotten(who);
  await holds();
  await service.database.run('DELETE FROM deletion_requests WHERE bot_id = ? AND id = ?', bot.id, requestId);
});
afterEach(() => jest.restoreAllMocks());

async function holds(): Promise<void> {
  await bot.hasConsent(who);
  await bot.hasData(who, 'profile', { value: 'x' });
}

const replay = () => service.app.get(ErasureReplay).run();
/** A start that ends before each of its writes, until one is not reached. */
async function replayKilled(): Promise<void> {
  const unit = service.app.get(UnitOfWork, { strict: false });
  for (let nth = 1; ; nth += 1) {
    let writes = 0;
    const write = unit.write.bind(unit);
    const spy = jest.spyOn(unit, 'write').mockImplementation((work) => {
      writes += 1;
      return writes === nth ? Promise.reject(new Error('killed')) : write(work);
    });
    const fault = await replay().then(
      () => undefined,
      (error: unknown) => error,
    );
    spy.mockRestore();
    if (fault === undefined) return;
    expect(fault).toEqual(new Error('killed'));
  }
}
const daysAgo = (days: number) => service.app.get(Clock).daysAgoIso(days);
const status = async () =>
  (await bot.get<{ status: string }>(`/gdpr/forget-status/${requestId}`)).data.status;

describe('an erasure that is done again', () => {
  it('is completed under the same request', async () => {
    await replay();
    expect(await status()).toBe('completed');
    expectFailure(await bot.export(who), 404, 'not_found');
  });

  it('that has failed ends the start, and is done by the next one', async () => {
    const [holder] = service.app.get(SubjectDataHolders).all();
    if (holder === undefined) throw new Error('there is no holder');
    jest.spyOn(holder, 'erase').mockRejectedValueOnce(new Error('broken'));
    await expect(replay()).rejects.toThrow();
    expect(await status()).toBe('failed');
    await replay();
    expect(await status()).toBe('completed');
    expectFailure(await bot.export(who), 404, 'not_found');
  });
});

interface KeyRow {
  readonly id: string;
  readonly sealed: string;
}
const keys = () => service.database.rows<KeyRow>('SELECT * FROM keys.subject_keys');
/** As keys of a backup have it, that an erasure has destroyed since `before`. */
async function keyIsBack(before: readonly KeyRow[]): Promise<void> {
  const left = new Set((await keys()).map(({ id }) => id));
  const [back] = before.filter(({ id }) => !left.has(id));
  await service.database.run(
    'INSERT INTO keys.subject_keys (id, sealed) VALUES (?, ?)',
    ...[back?.id ?? '', back?.sealed ?? ''],
  );
}

describe('a start after a restore of keys that are newer than the data', () => {
  it('destroys the key that an erasure names beside the one that the data names', async () => {
    const [entry] = await service.database.rows<{ key_id: string }>(
      'SELECT key_id FROM keys.erasure_ledger WHERE request_id = ?',
      requestId,
    );
    const sealed = (await keys())[0]?.sealed ?? '';
    await service.database.run(
      'INSERT INTO keys.subject_keys (id, sealed) VALUES (?, ?)',
      entry?.key_id ?? '',
      sealed,
    );
    await replay();
    expect(await status()).toBe('completed');
    expect((await keys()).map(({ id }) => id)).not.toContain(entry?.key_id);
  });
});

describe('a start', () => {
  it('looks at the ledger and at the erasures of the data in parts, and finds what is behind them', async () => {
    const [other, at] = ['00000000-0000-7000-8000-000000000000', daysAgo(0)];
    await service.database.run(
      `INSERT INTO keys.erasure_ledger (bot_id, request_id, guild_id, user_id, erased_at)
       WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
       SELECT '${other}', '${other.slice(0, 24)}' || (100000000000 + i), 'g', 'u' || i, '${at}' FROM n`,
    );
    // An erasure of the data whose entry is missing.
    const lost = await bot.hasForgotten(subject());
    await service.database.run('DELETE FROM keys.erasure_ledger WHERE request_id = ?', lost);
    const log = new SqlLog().open();
    await replay();
    log.close();
    expect(await status()).toBe('completed');
    // Three parts, and the last one once more for the repeat and once behind it.
    expect(log.runsOf(/ FROM \(SELECT \* FROM keys\.erasure_ledger [^]* LIMIT 5000\)/)).toBe(5);
    expect(log.runsOf(/ FROM \(SELECT \* FROM deletion_requests [^]* LIMIT 5000\)/)).toBe(1);
    await service.database.run('DELETE FROM keys.erasure_ledger WHERE bot_id = ?', other);
  });
});

describe('a ledger that is older than the data', () => {
  const LEDGER = 'SELECT guild_id, user_id, key_id FROM keys.erasure_ledger WHERE request_id = ?';
  const entries = (id: string) => service.database.rows(LEDGER, id);
  const forget = () => service.database.run('DELETE FROM keys.erasure_ledger WHERE bot_id = ?', bot.id);
  beforeEach(() => replay());

  it.each([
    ['two processes start at once', () => Promise.all([replay(), replay()])],
    ['a start is killed between its writes', () => replayKilled()],
  ])(
    'gets the erasures that the data records, also where %s, and their keys are destroyed',
    async (_, start) => {
      await holds();
      const before = await keys();
      const id = await bot.hasForgotten(who);
      await keyIsRewritten(service, id);
      const { data } = await bot.get(`/gdpr/forget-status/${id}/certificate`);
      const [listed, left] = [await entries(id), await keys()];
      await forget();
      await keyIsBack(before);
      await start();
      expect([listed.length, await entries(id)]).toEqual([1, listed]);
      expect(await keys()).toEqual(left);
      // The key was recoverable again: the first certificate says too early a time.
      const asked = `SELECT certificate FROM deletion_requests WHERE id = ?`;
      expect(await service.database.rows(asked, id)).toEqual([{ certificate: null }]);
      expect((await bot.get(`/gdpr/forget-status/${id}/certificate`)).data).not.toEqual(data);
    },
  );

  it('does not get an erasure that was done again and whose entry has ended', async () => {
    const [id, at] = [firstIdAt(daysAgo(1_100)), daysAgo(1_090)];
    const first = 'UPDATE keys.erasure_ledger SET request_id = ?, erased_at = ? WHERE bot_id = ?';
    await service.database.run(
      'DELETE FROM keys.erasure_ledger WHERE bot_id = ? AND request_id <> ?',
      bot.id,
      requestId,
    );
    await service.database.run('DELETE FROM deletion_requests WHERE bot_id = ?', bot.id);
    await service.database.run(first, id, at, bot.id);
    await holds();
    await replay();
    const done = 'SELECT status FROM deletion_requests WHERE id = ?';
    expect(await service.database.rows(done, id)).toEqual([{ status: 'completed' }]);
    // As the retention does five days later.
    await forget();
    await replay();
    expect(await entries(id)).toEqual([]);
  });

  it('does not get a row of the data whose end is not in the audit log', async () => {
    const erased = 'UPDATE deletion_requests SET id = ? WHERE bot_id = ? AND id = ?';
    await service.database.run(erased, UNKNOWN_UUID, bot.id, requestId);
    await forget();
    await replay();
    expect(await entries(UNKNOWN_UUID)).toEqual([]);
  });
});

describe('the start of a process', () => {
  it('listens when what a backup has brought back is erased again', async () => {
    jest.spyOn(process, 'on').mockReturnValue(process);
    jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    jest.replaceProperty(process, 'env', { LOG_LEVEL: 'error' });
    const steps: string[] = [];
    const run = async (): Promise<void> => {
      await nextTurn();
      steps.push('erased');
    };
    const parts = new Map<unknown, unknown>([
      [ErasureReplay, { run }],
      [Health, { isServing: false }],
      // The log of the process notes its writes and drops here, also after this test.
      [Degradations, new Degradations()],
      [Metrics, NO_METRICS],
    ]);
    const nest = { get: (part: unknown) => parts.get(part) } as INestApplicationContext;
    const listen = async () => {
      steps.push('listens');
      return { url: '', greeting: '' };
    };
    await startProcess(async () => ({ nest, listen, drain: async () => true }));
    await nextTurn();
    expect(steps).toEqual(['erased', 'listens']);
  });

  it('is not ready any more when a signal has arrived while it began to listen', async () => {
    const signals: (() => void)[] = [];
    jest.spyOn(process, 'on').mockImplementation((event, listener) => {
      if (event === 'SIGTERM') signals.push(listener as () => void);
      return process;
    });
    jest.spyOn(global, 'setTimeout').mockReturnValue(undefined as unknown as NodeJS.Timeout);
    jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    jest.replaceProperty(process, 'env', { LOG_LEVEL: 'error' });
    const health = { isServing: false };
    const parts = new Map<unknown, unknown>([
      [ErasureReplay, { run: async () => undefined }],
      [Health, health],
      [Degradations, new Degradations()],
      [Metrics, NO_METRICS],
    ]);
    const nest = { get: (part: unknown) => parts.get(part) } as INestApplicationContext;
    const listen = async () => {
      for (const receive of signals) receive();
      return { url: '', greeting: '' };
    };
    const drain = () => new Promise<boolean>(() => undefined);
    await startProcess(async () => ({ nest, listen, drain }));
    expect([signals.length, health.isServing]).toEqual([1, false]);
  });
});
