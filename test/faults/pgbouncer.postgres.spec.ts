import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Signals, type Tx, UnitOfWork } from '@app/database';
import { Readiness } from '@app/runtime';
import type { Bot } from '../support/bot';
import type { Answer } from '../support/client';
import { bareDatabase, newDatabase, type TestDatabase } from '../support/database';
import { describeWithPooler, type Pooler, startPooler } from '../support/pgbouncer';
import { Replicated } from '../support/replicated';
import { Service } from '../support/service';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';

// What a transaction pooler takes away from a service: sessions, their parameters, and connections without end.

const directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
afterAll(() => rmSync(directory, { recursive: true }));

const LIMITS = { DATABASE_LOCK_TIMEOUT_MS: '500', DATABASE_STATEMENT_TIMEOUT_MS: '1500', JOBS: 'off' };

function through(pooler: Pooler, { url }: TestDatabase): Record<string, string> {
  return { DATABASE_URL: pooler.urlOf(url), DATABASE_DIRECT_URL: url, ...LIMITS };
}

const event = (bot: Bot) => bot.post('/audit/event', { ...subject(), event_type: 'data_exported' });

describeWithPooler('a pooler in transaction mode with three connections', () => {
  let pooler: Pooler;
  let database: TestDatabase;
  let services: Service[];
  let bot: Bot;

  beforeAll(async () => {
    pooler = await startPooler({ default_pool_size: 3 });
    database = await newDatabase(directory);
    const name = new URL(database.url).pathname.slice(1);
    // A server whose defaults are not those of Lethe.
    await database.run(`ALTER DATABASE ${name} SET timezone = 'Asia/Tokyo'`);
    await database.run(`ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`);
    const given = through(pooler, database);
    services = [1, 2].map(() => new Service(given, database));
    for (const service of services) {
      await service.start();
      service.app.get(Readiness, { strict: false }).ready = true;
    }
    bot = await first().registerBot();
  });
  afterAll(async () => {
    for (const service of services) await service.app.close();
    await pooler.stop();
    await first().remove();
  });

  const first = (): Service => services[0] as Service;
  const unitOfWork = (): UnitOfWork => first().app.get(UnitOfWork);
  const shown = async (tx: Tx, name: string): Promise<unknown> =>
    (await tx.get<{ value: string }>('SELECT current_setting(?) AS value', name))?.value;

  it('gives every transaction the parameters of Lethe, on whatever session it runs', async () => {
    const names = ['timezone', 'statement_timeout', 'lock_timeout', 'transaction_isolation'];
    const seen = async (tx: Tx): Promise<unknown[]> => {
      const found: unknown[] = [];
      for (const name of names) found.push(await shown(tx, name));
      return found;
    };
    const units = await Promise.all(Array.from({ length: 12 }, () => unitOfWork().write(seen)));
    for (const unit of units) expect(unit).toEqual(['UTC', '1500ms', '500ms', 'read committed']);
    const read = await unitOfWork().read(seen);
    expect(read).toEqual(['UTC', '1500ms', '500ms', 'repeatable read']);
    expect(
      await unitOfWork().get(
        `SELECT current_setting('timezone') AS zone, current_setting('statement_timeout') AS ms`,
      ),
    ).toEqual({ zone: 'UTC', ms: '1500ms' });
  });

  it('keeps no statement by its name, and leaves no parameter to the next client', async () => {
    for (let times = 0; times < 20; times++) await event(bot);
    const { rows } = await unitOfWork().write(async (tx) => ({
      rows: await tx.all('SELECT name FROM pg_prepared_statements'),
    }));
    expect(rows).toEqual([]);
  });

  it('refuses to write in a read', async () => {
    const unit = unitOfWork().read((tx) => tx.run('DELETE FROM job_leases'));
    await expect(unit).rejects.toMatchObject({ code: '25006' });
  });

  it('ends a statement and a wait for a lock in time with 503', async () => {
    const slow = unitOfWork().write((tx) => tx.get('SELECT pg_sleep(10)'));
    await expect(slow).rejects.toMatchObject({ status: 503, cause: { code: '57014' } });
    await expect(unitOfWork().get('SELECT pg_sleep(10)')).rejects.toMatchObject({ status: 503 });
    const waits = unitOfWork().write(async (tx) => {
      await tx.get('SELECT id FROM bots WHERE id = ? FOR UPDATE', bot.id);
      await unitOfWork().write((other) => other.get('SELECT id FROM bots WHERE id = ? FOR UPDATE', bot.id));
    });
    await expect(waits).rejects.toMatchObject({ status: 503, cause: { code: '55P03' } });
  });

  it('does not stand between the wake-ups of the processes', async () => {
    const [sender, receiver] = services.map((service) => service.app.get(Signals));
    const heard: string[] = [];
    receiver?.on('pooled', (word) => heard.push(word));
    sender?.tell('pooled', 'word');
    await until(() => heard.length === 1);
  });

  it('answers 503 with words, and in time, while all of its connections are held', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let begun = 0;
    const hold = async (tx: Tx): Promise<void> => {
      await tx.get('SELECT 1');
      begun++;
      await released;
    };
    const held = [1, 2, 3].map(() => unitOfWork().write(hold));
    await until(() => begun === 3);
    const begunMs = performance.now();
    const answers = await Promise.all(Array.from({ length: 20 }, () => event(bot)));
    expect(performance.now() - begunMs).toBeLessThan(8_000);
    release();
    await Promise.all(held);
    for (const answer of answers) expectUnavailable(answer);
    expect((await event(bot)).status).toBe(201);
  });

  it('can be killed and started again under load: what was answered is stored, the rest is 503', async () => {
    const acknowledged: string[] = [];
    const statuses = new Set<number>();
    let isRunning = true;
    const load = Array.from({ length: 8 }, async () => {
      while (isRunning) {
        const answer = await event(bot);
        statuses.add(answer.status);
        if (answer.status === 201) acknowledged.push(String(answer.data['event_id'] ?? answer.data['id']));
      }
    });
    const more = async (count: number): Promise<void> => {
      const wanted = acknowledged.length + count;
      await until(() => acknowledged.length >= wanted);
    };
    await more(50);
    await pooler.kill();
    await until(() => statuses.has(503));
    await pooler.start();
    await more(50);
    isRunning = false;
    await Promise.all(load);
    expect([...statuses].sort()).toEqual([201, 503]);
    const rows = await database.rows<{ id: string }>('SELECT id FROM audit_events WHERE bot_id = ?', bot.id);
    const stored = new Set(rows.map(({ id }) => id));
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
    expect((await first().anonymous.send('GET', '/health/ready')).status).toBe(200);
  });
});

function expectUnavailable(answer: Answer<unknown>): void {
  expect({ status: answer.status, retryAfter: answer.header('retry-after'), ...answer.error }).toMatchObject({
    ...{ status: 503, retryAfter: '1', code: 'service_unavailable' },
    message: expect.stringMatching(/nothing was changed/) as string,
  });
}

describeWithPooler('a pooler that still leads to a former primary, which is a standby now', () => {
  let replicated: Replicated;
  let pooler: Pooler;
  let service: Service;
  beforeAll(async () => {
    replicated = await Replicated.create({ isSynchronous: false });
    const { primary } = replicated;
    const { DATABASE_URL = '' } = await replicated.database('lethe');
    pooler = await startPooler({}, primary.url());
    const database = { drop: async () => undefined } as unknown as TestDatabase;
    const urls = { DATABASE_URL: pooler.urlOf(primary.url('lethe')), DATABASE_DIRECT_URL: DATABASE_URL };
    service = await new Service({ ...urls, ...LIMITS }, database).start();
  });
  afterAll(async () => {
    await service.app.close();
    await pooler.stop();
    await replicated.remove();
  });

  it('answers neither writes nor reads, which would be stale', async () => {
    const { primary, standby } = replicated;
    const bot = await service.registerBot();
    const who = subject();
    await bot.hasCategory('profile');
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'x' });
    await primary.kill();
    await standby.promote();
    await primary.startAsStandby();
    const held = 'SELECT bot_id FROM user_data';
    expect(await primary.sql('lethe', held)).toHaveLength(1);
    const unitOfWork = service.app.get(UnitOfWork);
    const ways = {
      get: () => unitOfWork.get(held),
      read: () => unitOfWork.read((tx) => tx.all(held)),
      readAnywhere: () => unitOfWork.readAnywhere((tx) => tx.all(held)),
      snapshot: () => unitOfWork.snapshot((tx) => tx.all(held)),
      write: () => unitOfWork.write((tx) => tx.all(held)),
    };
    // The first statements only learn that PgBouncer has lost its connections.
    for (let times = 0; times < 3; times++)
      for (const [way, act] of Object.entries(ways)) {
        const said = await act().catch((error: unknown) => error);
        expect({ way, said }).toMatchObject({ way, said: { code: 'service_unavailable' } });
      }
    for (const answer of [await event(bot), await bot.status(who), await bot.export(who)])
      expectUnavailable(answer);
  });
});

describeWithPooler('a start through a pooler', () => {
  let pooler: Pooler;
  let database: TestDatabase;
  beforeAll(async () => {
    pooler = await startPooler();
    database = await newDatabase(directory);
  });
  afterAll(async () => {
    await pooler.stop();
    await database.drop();
  });

  /** The words of a start that is refused. */
  async function refusal(environment: Record<string, string>): Promise<string> {
    const service = new Service(environment, database);
    const said = await service.start().then(
      () => 'it started',
      (error: unknown) => String((error as Error).message),
    );
    if (said === 'it started') await service.app.close();
    expect(said).not.toContain('lethe:lethe');
    return said;
  }

  it('without DATABASE_DIRECT_URL is refused', async () => {
    expect(await refusal({ DATABASE_URL: pooler.urlOf(database.url) })).toMatch(/Set DATABASE_DIRECT_URL/);
  });

  it('is refused as well where the pooler drops the parameters of a connection in silence', async () => {
    const names =
      'options,statement_timeout,lock_timeout,idle_in_transaction_session_timeout,extra_float_digits';
    const silent = await startPooler({ ignore_startup_parameters: names });
    const said = await refusal({ DATABASE_URL: silent.urlOf(database.url) });
    const direct = await refusal({
      DATABASE_URL: silent.urlOf(database.url),
      DATABASE_DIRECT_URL: silent.urlOf(database.url),
    });
    await silent.stop();
    expect(said).toMatch(/A pooler such as PgBouncer is before the database\. Set DATABASE_DIRECT_URL/);
    expect(direct).toBe(said);
  });

  it('is refused when the two URLs lead to different databases', async () => {
    const other = await newDatabase(directory);
    const said = await refusal({ DATABASE_URL: pooler.urlOf(other.url), DATABASE_DIRECT_URL: database.url });
    expect(said).toMatch(/lead to different servers or databases/);
    await pooler.kill();
    await pooler.start();
    await other.drop();
  });

  it('is refused for a pool by statement, and for a pooler that is away', async () => {
    const byStatement = await startPooler({ pool_mode: 'statement' });
    const said = await refusal(through(byStatement, database));
    await byStatement.stop();
    expect(said).toMatch(/^The pooler of DATABASE_URL .* must pool by transaction or by session/);
    expect(await refusal(through(byStatement, database))).toMatch(/cannot be used: .*ECONNREFUSED/);
  });

  it('works with a pool by session', async () => {
    const bySession = await startPooler({ pool_mode: 'session', default_pool_size: 30 });
    const service = await new Service(through(bySession, database), database).start();
    const bot = await service.registerBot();
    expect((await event(bot)).status).toBe(201);
    await service.app.close();
    await bySession.stop();
  });

  it('of two processes at once changes the schema once: the lock is on the direct connection', async () => {
    const bare = await bareDatabase(directory);
    const services = [1, 2].map(() => new Service(through(pooler, bare), bare));
    await Promise.all(services.map((service) => service.start()));
    const [row] = await bare.rows<{ twice: number }>(
      'SELECT COUNT(*) - COUNT(DISTINCT name) AS twice FROM migrations',
    );
    expect(row?.twice).toBe(0);
    for (const service of services) await service.app.close();
    await pooler.kill();
    await pooler.start();
    await bare.drop();
  });
});
