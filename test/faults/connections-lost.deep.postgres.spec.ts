import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiKeyTimes, KeyUses } from '@app/bots';
import { translateFault, UnitOfWork } from '@app/database';
import { ErasureService } from '@app/gdpr';
import { Health } from '@app/runtime';
import type { Bot } from '../support/bot';
import type { Answer } from '../support/client';
import { CuttingProxy } from '../support/cutting-proxy';
import { newDatabase, type TestDatabase } from '../support/database';
import { Service } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';
import { keptOpen } from '../support/units';

// R20 from the view of a bot: a server behind a proxy that cuts connections, falls silent and disappears.

const directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
const LIMITS = {
  DATABASE_POOL_SIZE: '2',
  // Every statement of a live server is done within these.
  DATABASE_LOCK_TIMEOUT_MS: '15000',
  DATABASE_STATEMENT_TIMEOUT_MS: '15000',
  // The unit of a job would be cut instead of that of a request.
  JOBS: 'off',
};
let database: TestDatabase;
let proxy: CuttingProxy;
let service: Service;
let bot: Bot;
let who: SubjectIds;
const unhandled: unknown[] = [];
const heard = (reason: unknown): unknown => unhandled.push(reason);

beforeAll(async () => {
  process.on('unhandledRejection', heard).on('warning', heard);
  database = await newDatabase(directory);
  proxy = await CuttingProxy.before(database.url);
  service = await new Service({ DATABASE_URL: proxy.url, ...LIMITS }, database).start();
  service.app.get(Health, { strict: false }).isServing = true;
  // Its unit would be cut instead, too.
  await service.app.get(KeyUses, { strict: false }).beforeApplicationShutdown();
  // A caller identified before is still identified without the database.
  service.app.get(ApiKeyTimes, { strict: false }).believedMs = 3_600_000;
});
beforeEach(async () => {
  bot = await service.registerBot();
  who = subject();
  await bot.hasCategory('profile');
  await bot.hasConsent(who);
});
afterEach(() => expect(unhandled).toStrictEqual([]));
afterAll(async () => {
  process.off('unhandledRejection', heard).off('warning', heard);
  await service.app.close();
  await proxy.close();
  await service.remove();
  rmSync(directory, { recursive: true });
});

const event = () => bot.post('/audit/event', { ...who, event_type: 'data_exported' });
const submit = () => bot.post('/data/submit', { ...who, category: 'profile', data: { value: 'x' } });
const forget = () => bot.post('/gdpr/forget-user', who);
const eventsOf = async (type: string) =>
  (await database.rows('SELECT 1 FROM audit_events WHERE bot_id = ? AND event_type = ?', bot.id, type))
    .length;

function expectUnavailable(answer: Answer<unknown>, message: RegExp): void {
  expect({ status: answer.status, retryAfter: answer.header('retry-after'), ...answer.error }).toMatchObject({
    ...{ status: 503, retryAfter: '1', code: 'service_unavailable' },
    message: expect.stringMatching(message) as string,
  });
}

const unchanged = /nothing was changed/;
const unknown = /failed during the commit: look whether it took effect/;

describe.each([
  ['POST /audit/event', event, 'data_exported'],
  ['POST /data/submit', submit, 'data_submitted'],
] as const)('%s', (_, act, type) => {
  it('answers 503 when the connection is lost before BEGIN, and nothing was changed', async () => {
    const cut = proxy.cutAt('BEGIN ISOLATION LEVEL READ COMMITTED', 'before it is sent');
    expectUnavailable(await act(), unchanged);
    await cut;
    expect(await eventsOf(type)).toBe(0);
    expect((await act()).status).toBeLessThan(300);
  });

  it.each([
    ['before it is sent', 0],
    ['after it is answered', 1],
  ] as const)('says that the outcome is unknown when it is lost at the COMMIT, %s', async (when, count) => {
    const cut = proxy.cutAt('COMMIT\0', when);
    expectUnavailable(await act(), unknown);
    await cut;
    expect(await eventsOf(type)).toBe(count);
    expect((await act()).status).toBeLessThan(300);
  });
});

/** The request is on record, and the recovery completes it. */
async function expectFinished(answer: Answer): Promise<void> {
  expectUnavailable(answer, /on record and will be finished/);
  expect(answer.error.details).toMatchObject({ status: 'processing' });
  await service.app.get(ErasureService, { strict: false }).finishLeft();
  const { data } = await bot.get(`/gdpr/forget-status/${String(answer.error.details?.['request_id'])}`);
  expect(data).toMatchObject({ status: 'completed', deleted_categories: ['profile'] });
}

describe('an erasure whose last COMMIT is not answered', () => {
  /** The first COMMIT of an erasure records it, the second one completes it. */
  async function cutAtSecond(when: 'before it is sent' | 'after it is answered'): Promise<Answer> {
    let cut: Promise<void> | undefined;
    const plan = (): void => void (cut = proxy.cutAt('COMMIT\0', when));
    proxy.onceSent('DELETE FROM user_data', plan);
    const answer = await forget();
    await cut;
    return answer;
  }

  it('is answered 200 when it took place', async () => {
    await submit();
    const answer = await cutAtSecond('after it is answered');
    expect({ text: answer.text, status: answer.status }).toMatchObject({ status: 200 });
    expect(answer.data).toMatchObject({ status: 'completed', deleted_categories: ['profile'] });
    expect(await eventsOf('deletion_failed')).toBe(0);
  });

  it('is answered 503 as under way when it did not, and is finished by the recovery', async () => {
    await submit();
    const answer = await cutAtSecond('before it is sent');
    await expectFinished(answer);
    expect(await eventsOf('deletion_failed')).toBe(0);
    expect((await bot.export(who)).status).toBe(404);
  });
});

describe('a lost database', () => {
  it('is answered for with 503 by every route and by the probe, and used again when it is back', async () => {
    await submit();
    proxy.refuse(true);
    const ready = await service.anonymous.send('GET', '/health/ready');
    const answers = await Promise.all([event(), submit(), forget(), bot.export(who), bot.status(who)]);
    proxy.refuse(false);
    expectUnavailable(ready, unchanged);
    for (const answer of answers) expectUnavailable(answer, unchanged);
    expect((await service.anonymous.send('GET', '/health/ready')).status).toBe(200);
    expect((await event()).status).toBe(201);
    expect(await eventsOf('data_submitted')).toBe(1);
  });

  it('and says nothing is given up within the limits, and used again without a restart', async () => {
    proxy.fallSilent(true);
    // The server is silent until every call is answered.
    const answers = await Promise.all([event(), submit(), bot.status(who)]);
    proxy.fallSilent(false);
    for (const { status, text } of answers) expect({ status, text }).toMatchObject({ status: 503 });
    expect((await submit()).status).toBe(200);
  });
});

describe('a connection that is terminated in the packet that says it is ready', () => {
  it('ends its unit with 503, and not the process', async () => {
    const uncaught: unknown[] = [];
    const caught = (error: unknown): unknown => uncaught.push(error);
    process.on('uncaughtException', caught);
    try {
      proxy.cutAll();
      proxy.terminateNew(true);
      const answers = await Promise.all([event(), submit(), bot.export(who, '&format=full')]);
      proxy.terminateNew(false);
      for (const answer of answers) expect(answer.status).toBe(503);
      expect((await event()).status).toBe(201);
    } finally {
      process.off('uncaughtException', caught);
    }
    expect(uncaught).toEqual([]);
  });
});

describe('a pool of two connections that are both held', () => {
  it('answers 503 within the limit to later requests', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const unitOfWork = service.app.get(UnitOfWork);
    const held = [1, 2].map(() => unitOfWork.write((tx) => keptOpen(tx).then(() => released)));
    const answers = await Promise.all(Array.from({ length: 20 }, event));
    release();
    await Promise.all(held);
    for (const answer of answers) expectUnavailable(answer, unchanged);
    expect((await event()).status).toBe(201);
    expect(await eventsOf('data_exported')).toBe(1);
  });
});

describe('a server that only reads, as after a failover', () => {
  it('is answered for with 503 where something is written, and with 200 where not', async () => {
    const unit = service.app.get(UnitOfWork).write(async (tx) => {
      await tx.run('SET TRANSACTION READ ONLY');
      await tx.run('DELETE FROM job_leases');
    });
    await expect(unit).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(translateFault(Object.assign(new Error('x'), { code: '25006' }))).toMatchObject({ status: 503 });
    expect((await bot.status(who)).status).toBe(200);
  });
});

describe('a connection on which the server refuses to write', () => {
  it('is closed, so that the next unit follows the address to another server', async () => {
    const unitOfWork = service.app.get(UnitOfWork);
    const pids: unknown[] = [];
    const unit = (sql: string) =>
      unitOfWork.write(async (tx) => {
        pids.push((await tx.get<{ pid: number }>('SELECT pg_backend_pid() AS pid'))?.pid);
        await tx.run(sql);
        await tx.run('DELETE FROM job_leases');
      });
    await unit('SET TRANSACTION READ WRITE');
    await expect(unit('SET TRANSACTION READ ONLY')).rejects.toMatchObject({ code: 'service_unavailable' });
    await unit('SELECT 1');
    expect([pids[0] === pids[1], pids[1] === pids[2]]).toEqual([true, false]);
  });
});

describe('an erasure that the database left half-way', () => {
  it('says that it is on record, and is finished once the database answers', async () => {
    await submit();
    proxy.onceSent('DELETE FROM user_data', () => proxy.refuse(true));
    const answer = await forget();
    proxy.refuse(false);
    await expectFinished(answer);
  });
});
