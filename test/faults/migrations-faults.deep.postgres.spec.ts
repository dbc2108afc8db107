import { useInstallation } from '../support/installation';
import { until } from '../support/until';
import { allMigrations, databaseEngine, type MigrationClass } from '@app/database';
import { StartError, readConfig } from '@app/kernel';
import { Logger } from '@nestjs/common';
import { Client } from 'pg';
import type { QueryRunner } from 'typeorm';
import { ormOptions } from '../../ormconfig';
import { useBuild } from '../support/build';
import { bareDatabase } from '../support/database';
import { adminHere } from '../support/here';
import { migrateUp, onSchema } from '../support/migrating';
import { oldPostgres } from '../support/old-postgres';
import { schemaOf } from '../support/schema-dump';

const PASSWORD = 's3cr3t-pw';
const lethe = useInstallation({ build: useBuild(), makeDatabase: bareDatabase });

/** The start, db:migrate and db:revert all end with one readable line without the password. */
async function expectRefusals(
  url: string,
  reason: string,
  commands = ['db:migrate', 'db:revert'],
): Promise<void> {
  const { code, stderr } = await lethe.child({ DATABASE_URL: url, LOG_LEVEL: 'trace' }).refused();
  const outputs = [{ code, output: stderr }];
  for (const command of commands) outputs.push(await adminHere([command], { DATABASE_URL: url }));
  for (const { code: exit, output } of outputs) {
    expect(output).toContain(reason);
    expect(output.trim().split('\n')).toHaveLength(1);
    expect(output).not.toContain(PASSWORD);
    expect(output).not.toContain('lethe:lethe');
    expect(exit).toBe(1);
  }
}

function changed(change: (url: URL) => void): string {
  const url = new URL(lethe.database.url);
  change(url);
  return url.href;
}

describe('a PostgreSQL that cannot be used is reported in one line that says how to mend it', () => {
  it('a wrong password', () =>
    expectRefusals(
      changed((url) => (url.password = PASSWORD)),
      'user or password is wrong. Correct DATABASE_URL',
    ));

  it('no such database', () =>
    expectRefusals(
      changed((url) => (url.pathname = '/nowhere')),
      'the database does not exist. Create it with CREATE DATABASE',
    ));

  it('no server at the address', () =>
    expectRefusals(
      changed((url) => (url.port = '1')),
      'no server listens there. Start the server',
    ));

  it('no such host', () =>
    expectRefusals(
      changed((url) => (url.hostname = 'nowhere.invalid')),
      'Correct DATABASE_URL',
    ));

  it('a server without TLS where it is asked for', () =>
    expectRefusals(
      changed((url) => url.searchParams.set('sslmode', 'verify-full')),
      'no secure connection',
    ));

  it('too old a server', async () => {
    const old = await oldPostgres();
    await expectRefusals(old.url, 'is too old: Lethe needs version 14 or later');
    await old.stop();
  });

  it('no right to create tables', async () => {
    const role = `weak_${Date.now()}`;
    await lethe.database.run(`CREATE ROLE ${role} LOGIN PASSWORD '${PASSWORD}'`);
    const weak = changed((url) => Object.assign(url, { username: role, password: PASSWORD }));
    await expectRefusals(weak, 'the user may not change the schema. Grant it CREATE', ['db:migrate']);
    // The owner of the tables migrates; the service of the weak user starts on them.
    await migrateUp(lethe.database);
    expect((await adminHere(['db:migrate'], { DATABASE_URL: weak })).output).toMatch(
      /up to date|may not change/,
    );
    await lethe.database.run(`DROP OWNED BY ${role}`);
    await lethe.database.run(`DROP ROLE ${role}`);
  });
});

describe('pg_terminate_backend during the migrations', () => {
  it('undoes the running migration, is reported readably, and the next start runs all of them', async () => {
    await migrateUp(lethe.database, allMigrations().slice(0, 2));
    const before = await schemaOf(lethe.database);
    const holder = new Client({ connectionString: lethe.database.url });
    await holder.connect();
    await holder.query('BEGIN');
    // The next table with rows of bots refers to this one.
    await holder.query('LOCK TABLE bots');
    const config = readConfig({ DATABASE_URL: lethe.database.url });
    const open = databaseEngine(config).open(ormOptions(config), 'migrate', () => undefined);
    const refused = expect(open).rejects.toThrow(StartError);
    const pid = await waiting();
    // One connection migrates and holds the lock; without it both end.
    await holder.query('SELECT pg_terminate_backend($1)', [pid]);
    await refused;
    await expect(open).rejects.toThrow('Nothing was changed; try again');
    await holder.query('ROLLBACK');
    await holder.end();
    expect(await schemaOf(lethe.database)).toStrictEqual(before);
    expect(await migrateUp(lethe.database)).toHaveLength(allMigrations().length - 2);
  });
});

describe('a deadlock of the migrations with a running instance', () => {
  const INSTANCE = 'an instance';
  let holder: Client;
  let ended: Promise<unknown>;

  beforeEach(async () => {
    await migrateUp(lethe.database);
    holder = new Client({ connectionString: lethe.database.url, application_name: INSTANCE });
    await holder.connect();
    // The server ends the other side, which begins to wait last.
    await holder.query(`SET deadlock_timeout = '1h'`);
  });
  afterEach(() => holder.end());

  /** Changes two tables, with something between them. */
  function colliding(between: () => Promise<void>): MigrationClass {
    return class Colliding4000000000004 {
      async up(runner: QueryRunner): Promise<void> {
        // Long before the time limit for a table.
        await runner.query(`SET LOCAL deadlock_timeout = '10ms'`);
        await runner.query('ALTER TABLE bots ADD COLUMN of_the_next text');
        await between();
        await runner.query('ALTER TABLE servers ADD COLUMN of_the_next text');
      }

      async down(): Promise<void> {
        throw new Error('it is never taken back here');
      }
    };
  }

  /** The instance has the second table, and asks for the first. Resolves once it waits; its unit ends when it gets that. */
  async function meet(): Promise<void> {
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE servers');
    ended = holder.query('LOCK TABLE bots').then(() => holder.query('COMMIT'));
    await waiting(INSTANCE);
  }

  it('begins them again, and they run once', async () => {
    let meetings = 0;
    const migration = colliding(async () => (++meetings === 1 ? meet() : undefined));
    expect(await migrateUp(lethe.database, [...allMigrations(), migration])).toStrictEqual([
      'Colliding4000000000004',
    ]);
    await ended;
    expect(meetings).toBe(2);
  });

  it('that does not end is reported readably, and leaves the schema as it was', async () => {
    const before = await schemaOf(lethe.database);
    let meetings = 0;
    const migration = colliding(async () => {
      await ended;
      meetings += 1;
      await meet();
    });
    await expect(migrateUp(lethe.database, [...allMigrations(), migration])).rejects.toThrow(
      'running instances use the tables that the migrations change. Nothing was changed; try again',
    );
    await ended;
    expect(meetings).toBe(5);
    expect(await schemaOf(lethe.database)).toStrictEqual(before);
  });
});

describe('a transaction that holds a table, as one of pg_dump does for hours', () => {
  let dump: Client;

  beforeEach(async () => {
    await migrateUp(lethe.database);
    dump = new Client({ connectionString: lethe.database.url });
    await dump.connect();
    await dump.query('BEGIN');
    await dump.query('LOCK TABLE user_data IN ACCESS SHARE MODE');
  });
  afterEach(() => dump.end());

  class Adding4000000000005 {
    async up(runner: QueryRunner): Promise<void> {
      await runner.query('ALTER TABLE user_data ADD COLUMN of_the_next text');
    }

    async down(): Promise<void> {
      throw new Error('it is never taken back here');
    }
  }

  it('does not stop the requests to that table, and the migrations run once it has ended', async () => {
    const logged = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
    const migrating = migrateUp(lethe.database, [...allMigrations(), Adding4000000000005]);
    await waiting();
    // Each waits behind the change, which therefore has to give way.
    await lethe.database.rows('SELECT bot_id FROM user_data WHERE FALSE');
    await lethe.database.run('UPDATE user_data SET bot_id = bot_id WHERE FALSE');
    await dump.query('COMMIT');
    expect(await migrating).toStrictEqual(['Adding4000000000005']);
    expect(logged).toHaveBeenCalledWith(expect.stringContaining('pg_stat_activity'));
    logged.mockRestore();
  });

  it('keeps no start waiting that has nothing to migrate', async () => {
    const logged = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
    const migrating = migrateUp(lethe.database, [...allMigrations(), Adding4000000000005]);
    await until(() => logged.mock.calls.length > 0);
    // As an instance of the older version, while the table is still held.
    expect(await migrateUp(lethe.database)).toStrictEqual([]);
    await dump.query('COMMIT');
    expect(await migrating).toStrictEqual(['Adding4000000000005']);
    logged.mockRestore();
  });

  it('leaves no time limit for locks on the connection of the migrations', async () => {
    const [before, after] = await onSchema(lethe.database, async (source) => {
      const limit = (): Promise<unknown> => source.query('SHOW lock_timeout');
      return [await limit(), await source.runMigrations({ transaction: 'all' }).then(limit)];
    });
    expect(after).toStrictEqual(before);
  });
});

describe('a process that changes the schema and does not answer', () => {
  it('is ended by the server, which undoes its change, and says so', async () => {
    await migrateUp(lethe.database);
    const before = await schemaOf(lethe.database);
    class Silent4000000000006 {
      async up(runner: QueryRunner): Promise<void> {
        await runner.query('ALTER TABLE bots ADD COLUMN of_the_next text');
        // In place of the minute, which connection-settings has seen on the session.
        await runner.query(`SET LOCAL idle_in_transaction_session_timeout = '1ms'`);
        await until(async () => (await sessions()).length === 0);
        await runner.query('SELECT 1');
      }

      async down(): Promise<void> {
        throw new Error('it is never taken back here');
      }
    }
    await expect(migrateUp(lethe.database, [...allMigrations(), Silent4000000000006])).rejects.toThrow(
      'Unfinished work is undone; try again',
    );
    expect(await schemaOf(lethe.database)).toStrictEqual(before);
  });

  it('keeps another one waiting, whose log says so', async () => {
    const logged = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    class Held4000000000007 {
      up(): Promise<void> {
        return held;
      }

      async down(): Promise<void> {
        throw new Error('it is never taken back here');
      }
    }
    await migrateUp(lethe.database);
    const holding = migrateUp(lethe.database, [...allMigrations(), Held4000000000007]);
    await until(async () => (await sessions()).some(({ state }) => state === 'idle in transaction'));
    const later = migrateUp(lethe.database);
    await until(() => logged.mock.calls.length > 0);
    release();
    expect([await holding, await later]).toStrictEqual([['Held4000000000007'], []]);
    expect(logged).toHaveBeenCalledWith(
      expect.stringMatching(/^Another process changes the schema .*lethe-schema/),
    );
    logged.mockRestore();
  });
});

/** The sessions that change the schema. */
const sessions = () =>
  lethe.database.rows<{ state: string }>(
    `SELECT state FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'lethe-schema'`,
  );

/** The process id of the session of this name, once it waits for a lock. */
async function waiting(name = 'lethe-schema'): Promise<number> {
  let found: { pid: number } | undefined;
  await until(async () => {
    [found] = await lethe.database.rows<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database()
         AND application_name = ? AND wait_event_type = 'Lock'`,
      name,
    );
    return found !== undefined;
  });
  return found?.pid ?? 0;
}
