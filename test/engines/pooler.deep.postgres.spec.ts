import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Signals, UnitOfWork } from '@app/database';
import { readConfig } from '@app/kernel';
import { Client } from 'pg';
import { schemaSource } from '../../ormconfig';
import type { Bot } from '../support/bot';
import { newDatabase, type TestDatabase, throughPooler } from '../support/database';
import { PgBouncer } from '../support/pgbouncer';
import { canRun } from '../support/programs';
import { useReceiver } from '../support/receiver';
import { Service } from '../support/service';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';

const LOCK_TIMEOUT_MS = 61_234;
/** The submit at whose answer the pooler is killed. */
const KILLED_AT = 40;

const directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
const receiver = useReceiver();

function withPassword(url: string, password: string): string {
  return Object.assign(new URL(url), { password }).href;
}

/** Two services on one database, behind a PgBouncer that has one session of the server for both. */
(canRun('pgbouncer') ? describe : describe.skip)('behind a pooler in transaction mode', () => {
  let database: TestDatabase;
  let pooler: PgBouncer;
  let settings: Record<string, string>;
  let one: Service;
  let other: Service;
  let bot: Bot;

  beforeAll(async () => {
    database = await newDatabase(directory);
    pooler = await PgBouncer.before(database.url);
    settings = {
      DATABASE_URL: throughPooler(database.url, pooler.port),
      DATABASE_DIRECT_URL: database.url,
      DATABASE_LOCK_TIMEOUT_MS: `${LOCK_TIMEOUT_MS}`,
    };
    one = await new Service(settings, database).start();
    other = await new Service(settings, database).start();
    bot = await one.registerBot({ webhook_url: receiver.url });
    await bot.hasCategory('profile');
  });
  afterAll(async () => {
    for (const { app } of [one, other]) await app.close();
    await pooler.remove();
    await database.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('users of many callers are asked, stored, exported and erased', async () => {
    const lives = Array.from({ length: 24 }, async (_, at) => {
      const caller = at % 2 === 0 ? bot : bot.at(other);
      const who = subject();
      await caller.hasConsent(who);
      await caller.hasData(who, 'profile', { value: `value ${at}` });
      const { data } = await caller.export(who);
      await caller.hasForgotten(who);
      return [data, (await caller.status(who)).data];
    });
    for (const [at, [read, status]] of (await Promise.all(lives)).entries()) {
      expect(JSON.stringify(read)).toContain(`value ${at}`);
      expect(status).toMatchObject({ status: 'none' });
    }
  });

  it('each unit has its settings, and leaves none in the session', async () => {
    const shown = await one.app
      .get(UnitOfWork)
      .write((tx) => Promise.all(['lock_timeout', 'TimeZone'].map((name) => tx.get(`SHOW ${name}`))));
    expect(shown).toStrictEqual([{ lock_timeout: `${LOCK_TIMEOUT_MS}ms` }, { TimeZone: 'UTC' }]);
    const client = new Client(settings['DATABASE_URL']);
    await client.connect();
    expect((await client.query('SHOW lock_timeout')).rows).toStrictEqual([{ lock_timeout: '0' }]);
    await client.end();
  });

  it('a process hears the signals of another one', async () => {
    const heard: string[] = [];
    other.app.get(Signals).on('tested', (word) => heard.push(word));
    one.app.get(Signals).tell('tested', 'here');
    await until(() => heard.includes('here'));
  });

  it('no acknowledged submit is lost when the pooler is killed, and all go on with the next one', async () => {
    for (let at = 0; at < 2 * KILLED_AT; at++) await bot.hasCategory(`kept_${at}`);
    const who = await bot.hasUser();
    const acknowledged: number[] = [];
    let killed: Promise<void> | undefined;
    const restart = async (): Promise<void> => {
      await pooler.kill();
      await pooler.start();
    };
    const submit = async (at: number): Promise<boolean> => {
      const category = `kept_${at}`;
      const body = { ...who, category, data: { value: `${at}` } };
      return (await bot.post('/data/submit', body).catch(() => undefined))?.status === 200;
    };
    const callers = Array.from({ length: 8 }, async (_, caller) => {
      for (let at = caller; at < 2 * KILLED_AT; at += 8) {
        await until(() => submit(at));
        if (acknowledged.push(at) === KILLED_AT) killed = restart();
      }
    });
    await Promise.all(callers);
    await killed;
    expect(acknowledged).toHaveLength(2 * KILLED_AT);
    const text = JSON.stringify((await bot.export(who)).data);
    expect(acknowledged.filter((at) => !text.includes(`kept_${at}"`))).toStrictEqual([]);
  });

  it.each([
    [
      'without the address of the server itself',
      () => ({ DATABASE_URL: settings['DATABASE_URL'] }),
      'Set DATABASE_DIRECT_URL to the server behind the pooler',
    ],
    [
      'with the address of another database',
      () => ({ ...settings, DATABASE_DIRECT_URL: new URL('/postgres', database.url).href }),
      'does not lead to the database of DATABASE_DIRECT_URL',
    ],
    [
      'with a password that the pooler refuses',
      () => ({ ...settings, DATABASE_URL: withPassword(settings['DATABASE_URL'] ?? '', 'secret') }),
      /^(?!.*(startup|secret|DIRECT)).*cannot be used: it answers ".*". Correct DATABASE_URL, or the settings of the pooler/,
    ],
    [
      'with an address where no server listens',
      () => ({ ...settings, DATABASE_DIRECT_URL: throughPooler(database.url, 1) }),
      'no server listens there. Start the server, or correct DATABASE_DIRECT_URL',
    ],
  ])('a start %s is refused, and says how to mend it', async (_, given, message) => {
    const started = new Service(
      { ...(given() as Record<string, string>), MIGRATE_ON_START: 'false' },
      database,
    );
    await expect(started.start()).rejects.toThrow(message);
  });

  it('a change of the schema of another database than that of the pooler is refused', async () => {
    const DATABASE_DIRECT_URL = new URL('/postgres', database.url).href;
    await expect(schemaSource(readConfig({ ...settings, DATABASE_DIRECT_URL })).initialize()).rejects.toThrow(
      'does not lead to the database of DATABASE_DIRECT_URL',
    );
  });
});
