import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allMigrations, bringUpToDate } from '@app/database';
import type { DataSource } from 'typeorm';
import { bareDatabase, engine, newDatabase, type TestDatabase } from '../support/database';
import { isFull, itInPart, itOfSize, stepAtDepth } from '../support/depth';
import { fill, FILLED_SETTINGS } from '../support/filled';
import { migrateFailing, migrateUp, onSchema } from '../support/migrating';
import { NextKeys4000000000002, NextRelease4000000000001 } from '../support/next-release';
import { SavedDatabase } from '../support/saved-database';
import { schemaOf } from '../support/schema-dump';
import { Service } from '../support/service';

const ALL = allMigrations().length;
const NEXT = [...allMigrations(), NextRelease4000000000001, NextKeys4000000000002];
/** At full depth every statement fails once on SQLite, and every eleventh on PostgreSQL, which has several for each part of a table. */
const STEP = engine === 'sqlite' ? stepAtDepth(4, 1) : stepAtDepth(61, 11);
/** The same for the migrations of a later release, which have fewer statements. */
const NEXT_STEP = stepAtDepth(engine === 'sqlite' ? 5 : 11, 1);

type Rows = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

let directory: string;
let database: TestDatabase;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
  database = await bareDatabase(directory);
});
/** A filled database and a copy of it: each test that needs one begins with the copy. */
let full: { readonly database: TestDatabase; readonly saved: SavedDatabase } | undefined;
const fullDirectory = mkdtempSync(join(tmpdir(), 'lethe-test-'));

afterEach(async () => {
  if (database !== full?.database) await database.drop();
  rmSync(directory, { recursive: true, force: true });
});
afterAll(async () => {
  await full?.saved.drop();
  await full?.database.drop();
  rmSync(fullDirectory, { recursive: true, force: true });
});

/** Every row of every table. */
async function contents(): Promise<Rows> {
  const found: Record<string, Record<string, unknown>[]> = {};
  for (const { name, columns } of await database.tables()) {
    if (name === 'migrations' || name === 'job_leases') continue;
    const list = columns.map((column) => `"${column}"`).join(', ');
    found[name] = sorted(await database.rows<Record<string, unknown>>(`SELECT ${list} FROM ${name}`));
  }
  return found;
}

function sorted<T>(rows: readonly T[]): T[] {
  const byText = (a: T, b: T) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
  return [...rows].sort(byText);
}

/** The part of `rows` that fits the tables and columns of `others`. */
function within(rows: Rows, others: Rows): Rows {
  return Object.fromEntries(
    Object.entries(others).map(([name, [first]]) => [
      name,
      sorted(
        (rows[name] ?? []).map((row) =>
          Object.fromEntries(Object.keys(first ?? {}).map((column) => [column, row[column]])),
        ),
      ),
    ]),
  );
}

const revert = (migrations = allMigrations()) =>
  onSchema(database, (source) => source.undoLastMigration({ transaction: 'all' }), { migrations });

/** Fills the database; on PostgreSQL it is a copy that has the schema. */
async function filled(): Promise<void> {
  await database.drop();
  if (full !== undefined) {
    ({ database } = full);
    // A file is copied into an empty directory, a database of PostgreSQL takes the place of the present one.
    if (engine === 'sqlite') await database.drop();
    return full.saved.restore();
  }
  database = await newDatabase(fullDirectory);
  const service = await new Service(FILLED_SETTINGS, database).start();
  try {
    await fill(service);
  } finally {
    await service.app.close();
    rmSync(service.directory, { recursive: true });
  }
  full = { database, saved: await SavedDatabase.of(database, join(fullDirectory, 'lethe.db')) };
}

describe('the migrations', () => {
  it('run up, all the way down to an empty schema, and up again to the same one', async () => {
    await migrateUp(database);
    const first = await schemaOf(database);
    expect(first.length).toBeGreaterThan(20);
    for (let count = ALL; count > 0; count--) await revert();
    expect((await database.tables()).map(({ name }) => name)).toStrictEqual(['migrations']);
    await migrateUp(database);
    expect(await schemaOf(database)).toStrictEqual(first);
  });

  it('do nothing when they have run', async () => {
    expect(await migrateUp(database)).toHaveLength(ALL);
    const before = await schemaOf(database);
    expect(await migrateUp(database)).toStrictEqual([]);
    expect(await schemaOf(database)).toStrictEqual(before);
  });

  itInPart(
    'are undone as a whole when one of their statements fails, and run at the next start',
    async () => {
      let failures = 0;
      for (let nth = 1; !(await migrateFailing(database, nth)); nth += STEP) {
        failures += 1;
        expect((await database.tables()).filter(({ name }) => name !== 'migrations')).toStrictEqual([]);
      }
      expect(failures).toBeGreaterThan(isFull ? 8 : 3);
      expect(await migrateUp(database)).toStrictEqual([]);
      const other = await bareDatabase(mkdtempSync(join(directory, 'other-')));
      await migrateUp(other);
      expect(await schemaOf(database)).toStrictEqual(await schemaOf(other));
      await other.drop();
    },
  );

  const expectFilled = (table: string): Promise<void> =>
    expectRefusal(`${table} is not empty: without it no stored data can be read. Nothing was changed`);

  async function expectRefusal(refusal: string): Promise<void> {
    const [before, schema] = [await contents(), await schemaOf(database)];
    await expect(revert()).rejects.toThrow(refusal);
    expect(await schemaOf(database)).toStrictEqual(schema);
    expect(await contents()).toStrictEqual(before);
  }

  /** {@link contents} without the counts, which begin again with their migration. */
  async function lasting() {
    return { ...(await contents()), stats_consents: [], stats_counts: [], storage_samples: [] };
  }

  /** Takes back every migration after the one of this name; answers their number. */
  async function revertTo(name: string): Promise<number> {
    for (let count = 0; ; count++) {
      const newest = 'SELECT name FROM migrations ORDER BY id DESC LIMIT 1';
      const [last] = await database.rows<{ name: string }>(newest);
      if (last === undefined || last.name === name) return count;
      await revert();
    }
  }

  const powers = [
    ['a key of few scopes', 'UPDATE api_keys SET scopes = 1'],
    ['a key that expires', `UPDATE api_keys SET expires_at = '2099-01-01T00:00:00.000Z'`],
    ['a suspended bot', `UPDATE bots SET suspended_at = '2026-01-01T00:00:00.000Z'`],
  ] as const;
  itOfSize.each(powers)('are not taken back while there is %s, and nothing is changed', async (_, sql) => {
    await filled();
    await revertTo('KeysAndStanding1763600000020');
    await database.run(sql);
    await expectRefusal('without these columns they would be allowed more. Nothing was changed');
  });

  const owed = [
    [
      'an objection',
      'ProcessingRefusals1763600000035',
      `INSERT INTO processing_refusals (bot_id, guild_id, user_id, category_key, kind, created_at)
       SELECT bot_id, guild_id, user_id, '', 'objection', requested_at FROM consents LIMIT 1`,
      'An objection or a restriction of a user is in force',
    ],
    [
      'a task to erase',
      'BotHolders1763600000029',
      `INSERT INTO holder_tasks (bot_id, holder_key, request_id, created_at, open)
       SELECT bot_id, 'cache', id, created_at, 1 FROM deletion_requests LIMIT 1`,
      'A store of a bot has a task to erase that it has not answered',
    ],
  ] as const;
  itOfSize.each(owed)(
    'are not taken back while there is %s, and nothing is changed',
    async (_, name, sql, refusal) => {
      await filled();
      await revertTo(name);
      await database.run(sql);
      await expectRefusal(refusal);
    },
  );

  itOfSize('are not taken back while there are subjects, and nothing is changed', async () => {
    await filled();
    const before = await lasting();
    const count = await revertTo('Subjects1763600000012');
    await expectFilled('subjects');
    expect(await migrateUp(database)).toHaveLength(count);
    expect(await lasting()).toStrictEqual(before);
  });

  itOfSize(
    'take the names that bots are refused today from older entries: they do not tell who gave them',
    async () => {
      await filled();
      const entries = () =>
        database.rows<{ id: string; source: string | null }>(
          'SELECT id, source FROM consent_history ORDER BY id',
        );
      const before = await entries();
      const [one, other] = before.map(({ id }) => id);
      await database.run(`UPDATE consent_history SET source = 'privacy_page' WHERE id = '${one}'`);
      await database.run(`UPDATE consent_history SET source = 'console' WHERE id = '${other}'`);
      await database.run(`DELETE FROM migrations WHERE name LIKE 'ReservedSources%'`);
      await migrateUp(database);
      const sources = before.map(({ id, source }) => ({
        id,
        source: id === one || id === other ? null : source,
      }));
      expect(await entries()).toStrictEqual(sources);
    },
  );

  itOfSize('are not taken back while there are keys, and nothing is changed', async () => {
    await filled();
    await database.run('DELETE FROM subjects');
    const before = await lasting();
    const count = await revertTo('Keys1763600000010');
    expect(within(before, await contents())).toStrictEqual(await contents());
    await expectFilled('keys.subject_keys');
    expect(await migrateUp(database)).toHaveLength(count);
    expect(await lasting()).toStrictEqual(before);
  });
});

describe('the migrations of a later release', () => {
  itInPart('keep every row, up, down and up again, wherever one of their statements fails', async () => {
    await filled();
    const [before, schema] = [await contents(), await schemaOf(database)];
    expect(Object.values(before).filter((rows) => rows.length > 0).length).toBeGreaterThan(9);
    for (let nth = 1; !(await migrateFailing(database, nth, NEXT)); nth += NEXT_STEP) {
      expect(await schemaOf(database)).toStrictEqual(schema);
      expect(await contents()).toStrictEqual(before);
    }
    const after = await contents();
    expect(within(after, before)).toStrictEqual(before);
    expect(new Set(after['servers']?.map((row) => row['region']))).toStrictEqual(new Set(['none']));
    expect(after['keys.next_keys']).toStrictEqual([]);
    for (const count of [NEXT.length, NEXT.length - 1]) await revert(NEXT.slice(0, count));
    expect(await contents()).toStrictEqual(before);
    expect(await migrateUp(database, NEXT)).toHaveLength(2);
    expect(await contents()).toStrictEqual(after);
  });

  it('are unknown to this one, which refuses the database', async () => {
    await migrateUp(database, NEXT);
    const refused = onSchema(database, (source) => bringUpToDate(source, 'migrate'));
    await expect(refused).rejects.toThrow('NextKeys4000000000002, NextRelease4000000000001');
  });

  it('of the keys are committed before all others on SQLite, and pass over what is there', async () => {
    await migrateUp(database);
    const run = (source: DataSource) => {
      if (engine === 'sqlite')
        jest.spyOn(source, 'runMigrations').mockRejectedValue(new Error('interrupted'));
      return bringUpToDate(source, 'migrate');
    };
    const first = onSchema(database, run, { migrations: NEXT });
    if (engine === 'sqlite') {
      await expect(first).rejects.toThrow('interrupted');
      expect((await database.tables()).map(({ name }) => name)).toContain('keys.next_keys');
    } else await first;
    await onSchema(database, (source) => bringUpToDate(source, 'migrate'), { migrations: NEXT });
    expect(await migrateUp(database, NEXT)).toStrictEqual([]);
  });
});
