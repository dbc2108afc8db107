import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allMigrations } from '@app/database';
import { type Moment, runScript } from '../support/child-script';
import { useBuild } from '../support/build';
import { ChildService } from '../support/child-service';
import { bareDatabase, engine, type TestDatabase } from '../support/database';
import { atDepth, itInPart, someOf } from '../support/depth';
import { adminHere, ServiceHere } from '../support/here';
import { migrateUp } from '../support/migrating';
import { schemaOf } from '../support/schema-dump';

const ALL = allMigrations().length;
const LETHE_MASTER_KEY = Buffer.alloc(32, 'start').toString('base64');

const build = useBuild();
let directory: string;
let database: TestDatabase;
let running: ChildService[];
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
  database = await bareDatabase(directory);
  running = [];
});
afterEach(async () => {
  await Promise.all(running.map((service) => service.end('SIGKILL')));
  await database.drop();
  rmSync(directory, { recursive: true, force: true });
});

function child(environment: Record<string, string> = {}): ChildService {
  const settings = { DATABASE_URL: database.url, LETHE_MASTER_KEY, ...environment };
  return new ChildService(build.directory, join(directory, 'lethe.db'), settings);
}

async function started(environment?: Record<string, string>): Promise<ChildService> {
  const service = await child(environment).start();
  running.push(service);
  return service;
}

const migrate = (command: 'migrate' | 'revert') =>
  adminHere([`db:${command}`], { DATABASE_URL: database.url });

/** In a process of its own, which `kill` ends. */
const migrateApart = (kill?: Moment) =>
  runScript(build, 'admin', ['db:migrate'], { DATABASE_URL: database.url }, kill);

const executed = () => database.rows<{ name: string }>('SELECT name FROM migrations ORDER BY id');

async function expectWhole(): Promise<void> {
  expect((await executed()).map(({ name }) => name)).toStrictEqual(allMigrations().map(({ name }) => name));
}

/** Processes that start at once. */
const MANY = atDepth(3, 10);

describe('many that start at once on an empty database', () => {
  itInPart('migrate it exactly once: connections of one process', async () => {
    const runs = await Promise.allSettled(Array.from({ length: MANY }, () => migrateUp(database)));
    const done = runs.filter((run) => run.status === 'fulfilled').map(({ value }) => value.length);
    const refusals = runs.filter((run) => run.status === 'rejected').map(({ reason }) => String(reason));
    expect(done.filter((count) => count > 0)).toStrictEqual([ALL]);
    // A SQLite file has one process at a time; on PostgreSQL the others wait and find the schema done.
    if (engine === 'postgres') expect(refusals).toStrictEqual([]);
    for (const refusal of refusals) expect(refusal).toContain('Another process is using');
    await expectWhole();
  });

  itInPart('migrate it exactly once: services', async () => {
    const starts = await Promise.allSettled(Array.from({ length: MANY }, () => started()));
    const refusals = starts
      .filter((start) => start.status === 'rejected')
      .map(({ reason }) => String(reason));
    expect(running).toHaveLength(engine === 'postgres' ? MANY : 1);
    for (const refusal of refusals) expect(refusal).toContain('Another process is using');
    for (const { url } of running) expect((await fetch(`${url}/health/ready`)).status).toBe(200);
    await expectWhole();
  });
});

describe('MIGRATE_ON_START=false', () => {
  it('refuses to start before the migrations have run, in one line, and starts after npm run admin -- db:migrate', async () => {
    const refused = await child({ MIGRATE_ON_START: 'false' }).refused();
    expect(refused.stderr).toBe(
      'The database needs migrations. Run them with npm run admin -- db:migrate, or set MIGRATE_ON_START=true.\n',
    );
    expect(refused.code).toBe(1);
    expect(await migrateApart()).toMatchObject({
      code: 0,
      output: expect.stringContaining('up to date'),
    });
    const { url } = await started({ MIGRATE_ON_START: 'false' });
    expect((await fetch(`${url}/health/ready`)).status).toBe(200);
  });

  it('refuses again after npm run admin -- db:revert has taken one back', async () => {
    await migrate('migrate');
    const newest = allMigrations().at(-1)?.name;
    expect((await migrate('revert')).output).toContain(`${newest} reverted`);
    expect((await child({ MIGRATE_ON_START: 'false' }).refused()).stderr).toContain('needs migrations');
  });
});

describe('kill -9 during the migrations', () => {
  let schema: ReturnType<typeof schemaOf> | undefined;
  /** The schema of migrations that were not killed. */
  function undisturbed(): ReturnType<typeof schemaOf> {
    schema ??= (async () => {
      const other = await bareDatabase(mkdtempSync(join(directory, 'other-')));
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
      expect(await migrateApart(moment)).toMatchObject({
        code: null,
        output: expect.stringContaining('HELD'),
      });
      const service = await new ServiceHere(database, {
        DATABASE_URL: database.url,
        LETHE_MASTER_KEY,
      }).start();
      await service.end();
      await expectWhole();
      expect(await schemaOf(database)).toStrictEqual(await undisturbed());
    },
  );

  itInPart('of an upgrade that holds data: all of it is there', async () => {
    await migrateUp(database, allMigrations().slice(0, 3));
    await database.run(
      `INSERT INTO bots (id, platform_bot_id, name, webhook_secret, created_at, updated_at) VALUES ('b', '1', 'Old', 's', 't', 't')`,
    );
    await database.run(
      `INSERT INTO servers (bot_id, guild_id, id, text, created_at) VALUES ('b', '2', 'i', 'x', 't')`,
    );
    const rows = () => database.rows('SELECT bots.name, guild_id FROM bots JOIN servers ON bot_id = bots.id');
    for (const at of someOf(['CREATE TABLE "categories"', 'CREATE TABLE "audit_counts"', '^COMMIT'], 2)) {
      expect((await migrateApart({ at })).output).toContain('HELD');
      expect(await rows()).toStrictEqual([{ name: 'Old', guild_id: '2' }]);
    }
    expect((await migrate('migrate')).code).toBe(0);
    expect(await rows()).toStrictEqual([{ name: 'Old', guild_id: '2' }]);
    await expectWhole();
  });

  if (engine === 'sqlite')
    itInPart('before the commit of the data: the keys are committed already', async () => {
      expect((await migrateApart({ at: '^COMMIT' })).output).toContain('HELD');
      const names = (await database.tables()).map(({ name }) => name);
      expect(names).toStrictEqual([
        'migrations',
        ...['erasure_ledger', 'service_keys', 'subject_keys'].map((name) => `keys.${name}`),
      ]);
    });
});

describe('a database of a newer Lethe', () => {
  it('is refused by the start, by db:migrate and by db:revert, and left untouched', async () => {
    await migrate('migrate');
    await database.run(
      `INSERT INTO migrations (timestamp, name) VALUES (9999999999999, 'Newer9999999999999')`,
    );
    const before = await schemaOf(database);
    const message = 'was written by a newer Lethe, or by one with another module (Newer9999999999999)';
    expect((await child().refused()).stderr).toContain(message);
    for (const command of ['migrate', 'revert'] as const) {
      const { code, output } = await migrate(command);
      expect(output).toContain(message);
      expect(output).not.toMatch(/\n\s+at /);
      expect(code).toBe(1);
    }
    expect(await schemaOf(database)).toStrictEqual(before);
  });
});
