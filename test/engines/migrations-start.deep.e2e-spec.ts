import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { allMigrations } from '@app/database';
import type { Moment } from '../support/child-script';
import { useBuild } from '../support/build';
import { bareDatabase, engine } from '../support/database';
import { atDepth, itInPart, someOf } from '../support/depth';
import { useInstallation } from '../support/installation';
import { migrateUp } from '../support/migrating';
import { schemaOf } from '../support/schema-dump';
import { until } from '../support/until';

const ALL = allMigrations().length;
const NEWEST = allMigrations().at(-1)?.name ?? '';
const REVERT = ['db:revert', '--name', NEWEST] as const;
const lethe = useInstallation({ build: useBuild(), makeDatabase: bareDatabase });

const executed = () => lethe.database.rows<{ name: string }>('SELECT name FROM migrations ORDER BY id');

async function expectWhole(): Promise<void> {
  expect((await executed()).map(({ name }) => name)).toStrictEqual(allMigrations().map(({ name }) => name));
}

/** A ping of the database that takes long is answered 503. */
const ready = (url: string): Promise<void> =>
  until(async () => (await fetch(`${url}/health/ready`)).status === 200);

/** Processes that start at once. */
const MANY = atDepth(3, 10);

describe('many that start at once on an empty database', () => {
  itInPart('migrate it exactly once: connections of one process', async () => {
    const runs = await Promise.allSettled(Array.from({ length: MANY }, () => migrateUp(lethe.database)));
    const done = runs.filter((run) => run.status === 'fulfilled').map(({ value }) => value.length);
    const refusals = runs.filter((run) => run.status === 'rejected').map(({ reason }) => String(reason));
    expect(done.filter((count) => count > 0)).toStrictEqual([ALL]);
    // A SQLite file has one process at a time; on PostgreSQL the others wait and find the schema done.
    if (engine === 'postgres') expect(refusals).toStrictEqual([]);
    for (const refusal of refusals) expect(refusal).toContain('Another process is using');
    await expectWhole();
  });

  itInPart('migrate it exactly once: services', async () => {
    const starts = await Promise.allSettled(Array.from({ length: MANY }, () => lethe.child().start()));
    const refusals = starts
      .filter((start) => start.status === 'rejected')
      .map(({ reason }) => String(reason));
    const running = starts.filter((start) => start.status === 'fulfilled').map(({ value }) => value);
    expect(running).toHaveLength(engine === 'postgres' ? MANY : 1);
    for (const refusal of refusals) expect(refusal).toContain('Another process is using');
    for (const { url } of running) await ready(url);
    await expectWhole();
  });
});

describe('MIGRATE_ON_START=false', () => {
  it('refuses to start before the migrations have run, in one line, and starts after npm run admin -- db:migrate', async () => {
    const refused = await lethe.child({ MIGRATE_ON_START: 'false' }).refused();
    expect(refused.stderr).toBe(
      'The database needs migrations. Start the service with MIGRATE_ON_START=true, the default, or run npm run admin -- db:migrate.\n',
    );
    expect(refused.code).toBe(1);
    expect(await lethe.adminApart(['db:migrate'])).toMatchObject({
      code: 0,
      output: expect.stringContaining('up to date'),
    });
    const { url } = await lethe.child({ MIGRATE_ON_START: 'false' }).start();
    await ready(url);
  });

  it('refuses again after npm run admin -- db:revert has taken one back', async () => {
    await lethe.admin('db:migrate');
    expect((await lethe.admin(...REVERT)).output).toContain(`${NEWEST} reverted`);
    await expect(lethe.here({ MIGRATE_ON_START: 'false' }).start()).rejects.toThrow('needs migrations');
    expect((await lethe.admin('doctor')).output).toContain(
      'The database needs migrations. Start the service with MIGRATE_ON_START=true, the default, or run npm run admin -- db:migrate.',
    );
  });

  it.each([{ named: [] }, { named: ['--name', allMigrations()[0]?.name ?? ''] }])(
    'has db:revert take back no other migration than the one that is named, and name the newest: $named',
    async ({ named }) => {
      await lethe.admin('db:migrate');
      const { code, stderr } = await lethe.admin('db:revert', ...named);
      expect([code, stderr]).toEqual([1, expect.stringContaining(`db:revert --name ${NEWEST}.`)]);
      await expectWhole();
    },
  );

  it('keeps db:revert from the database of a running service, which would answer 500', async () => {
    // A name of the sessions in the URL must not hide them.
    const DATABASE_URL = lethe.database.settings['DATABASE_URL'] ?? '';
    const service = lethe.here(
      engine === 'postgres' ? { DATABASE_URL: `${DATABASE_URL}?application_name=gdpr` } : {},
    );
    await service.start();
    const refused = await lethe.admin(...REVERT);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(
        engine === 'postgres' ? /^A process of Lethe is using / : /^Another process is using /,
      ),
    ]);
    await service.end();
    expect(await lethe.admin(...REVERT)).toMatchObject({ code: 0 });
  });
});

describe('kill -9 during the migrations', () => {
  let schema: ReturnType<typeof schemaOf> | undefined;
  /** The schema of migrations that were not killed. */
  function undisturbed(): ReturnType<typeof schemaOf> {
    schema ??= (async () => {
      const other = await bareDatabase(mkdtempSync(join(lethe.root, 'other-')));
      await migrateUp(other);
      const found = await schemaOf(other);
      await other.drop();
      return found;
    })();
    return schema;
  }

  const moments: readonly Moment[] = [
    { at: 'CREATE TABLE "?migrations', count: 1 },
    { at: 'CREATE TABLE "bots"', count: 1 },
    { at: 'CREATE TABLE "audit_events"', count: 1 },
    { at: 'CREATE INDEX', count: 3 },
    { at: 'INSERT INTO "migrations"', count: 4 },
    { at: 'keys.service_keys', count: 1 },
    { at: 'CREATE TABLE "job_leases"', count: 1 },
    { at: '^COMMIT', count: 1 },
  ];
  itInPart.each(someOf(moments, 4))(
    'before statement $count of /$at/: the next start works, on the same schema',
    async (moment) => {
      expect(await lethe.adminApart(['db:migrate'], moment)).toMatchObject({
        code: null,
        output: expect.stringContaining('HELD'),
      });
      await (await lethe.service.start()).end();
      await expectWhole();
      expect(await schemaOf(lethe.database)).toStrictEqual(await undisturbed());
    },
  );

  itInPart('of an upgrade that holds data: all of it is there', async () => {
    await migrateUp(lethe.database, allMigrations().slice(0, 3));
    await lethe.database.run(
      `INSERT INTO bots (id, platform_bot_id, name, webhook_secret, created_at, updated_at) VALUES ('b', '1', 'Old', 's', 't', 't')`,
    );
    await lethe.database.run(
      `INSERT INTO servers (bot_id, guild_id, id, text, created_at) VALUES ('b', '2', 'i', 'x', 't')`,
    );
    const rows = () =>
      lethe.database.rows('SELECT bots.name, guild_id FROM bots JOIN servers ON bot_id = bots.id');
    for (const at of someOf(['CREATE TABLE "categories"', 'CREATE TABLE "audit_counts"', '^COMMIT'], 2)) {
      expect((await lethe.adminApart(['db:migrate'], { at })).output).toContain('HELD');
      expect(await rows()).toStrictEqual([{ name: 'Old', guild_id: '2' }]);
    }
    expect((await lethe.admin('db:migrate')).code).toBe(0);
    expect(await rows()).toStrictEqual([{ name: 'Old', guild_id: '2' }]);
    await expectWhole();
  });

  if (engine === 'sqlite')
    itInPart('before the commit of the data: the keys are committed already', async () => {
      expect((await lethe.adminApart(['db:migrate'], { at: '^COMMIT' })).output).toContain('HELD');
      const names = (await lethe.database.tables()).map(({ name }) => name);
      expect(names).toStrictEqual([
        'migrations',
        ...['erasure_ledger', 'service_keys', 'subject_keys'].map((name) => `keys.${name}`),
      ]);
    });
});

describe('a database of a newer Lethe', () => {
  it('is refused by the start, by db:migrate and by db:revert, and left untouched', async () => {
    await lethe.admin('db:migrate');
    await lethe.database.run(
      `INSERT INTO migrations (timestamp, name) VALUES (9999999999999, 'Newer9999999999999')`,
    );
    const before = await schemaOf(lethe.database);
    const message = 'was written by a newer Lethe, or by one with another module (Newer9999999999999)';
    await expect(lethe.here().start()).rejects.toThrow(message);
    for (const command of ['migrate', 'revert'] as const) {
      const { code, output } = await lethe.admin(`db:${command}`);
      expect(output).toContain(message);
      expect(output).not.toMatch(/\n\s+at /);
      expect(code).toBe(1);
    }
    expect(await schemaOf(lethe.database)).toStrictEqual(before);
  });
});
