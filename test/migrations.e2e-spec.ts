import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allMigrations } from '@app/database';
import { bareDatabase, engine, type TestDatabase } from './support/database';
import { fill, FILLED_SETTINGS } from './support/filled';
import { migrateUp, onSchema } from './support/migrating';
import { schemaOf } from './support/schema-dump';
import { Service } from './support/service';

// All migrations are taken back and run again many times, on a machine that may be busy.
jest.setTimeout(120_000);

const ALL = allMigrations().length;
/** The first release had these; the others came with a later one. */
const FIRST_RELEASE = 7;
/** From this one on stored data is encrypted. */
const ENCRYPTED = 11;

type Rows = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

let directory: string;
let database: TestDatabase;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
  database = await bareDatabase(directory);
});
afterEach(async () => {
  await database.drop();
  rmSync(directory, { recursive: true, force: true });
});

/** Every row of every table; the counts of the audit log as sums, since a release may split them. */
async function contents(): Promise<Rows> {
  const found: Record<string, Record<string, unknown>[]> = {};
  for (const { name, columns } of await database.tables()) {
    if (name === 'migrations' || name === 'job_leases') continue;
    const sql =
      name === 'audit_counts'
        ? `SELECT bot_id, guild_id, event_type, SUM(total) AS total FROM audit_counts GROUP BY bot_id, guild_id, event_type`
        : `SELECT ${columns.map((column) => `"${column}"`).join(', ')} FROM ${name}`;
    found[name] = sorted(await database.rows<Record<string, unknown>>(sql));
  }
  return found;
}

function sorted<T>(rows: readonly T[]): T[] {
  const byText = (a: T, b: T) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
  return [...rows].sort(byText);
}

/** What of `rows` is in the tables and columns of `others`. */
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

const revert = () => onSchema(database, (source) => source.undoLastMigration({ transaction: 'all' }));

async function filled(): Promise<void> {
  const service = new Service(FILLED_SETTINGS);
  service.database = database;
  await service.start();
  try {
    await fill(service);
  } finally {
    await service.app.close();
    rmSync(service.directory, { recursive: true });
  }
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

  it('keep every row that the older schema can hold: some down, all up, more down, all up, and so on', async () => {
    await filled();
    const before = await contents();
    expect(Object.values(before).filter((rows) => rows.length > 0).length).toBeGreaterThan(9);
    await expectKept(before, ALL - ENCRYPTED);
    // From here on an older Lethe would find what it cannot read: only without keys it goes further down.
    await database.run('DELETE FROM keys.subject_keys');
    await expectKept(await contents(), ALL - 1);
  });

  it('are not taken back below the encryption while there are keys, and nothing is changed', async () => {
    await filled();
    const before = await contents();
    for (let count = ALL; count > ENCRYPTED; count--) await revert();
    const schema = await schemaOf(database);
    await expect(revert()).rejects.toThrow(
      'Stored data is encrypted: an older Lethe could not read it. Restore a backup instead.',
    );
    expect(await schemaOf(database)).toStrictEqual(schema);
    await migrateUp(database);
    expect(within(await contents(), before)['keys.subject_keys']).toStrictEqual(before['keys.subject_keys']);
  });

  /** Looked at is each older schema when it is reached first: what it cannot hold is gone from then on. */
  async function expectKept(before: Rows, downs: number): Promise<void> {
    let reached = 0;
    for (const down of [1, 2, 3, 5, 8, downs].filter((step) => step <= downs)) {
      for (let turn = 1; turn <= down; turn++) {
        await revert();
        if (turn <= reached) continue;
        const older = await contents();
        expect(older).toStrictEqual(within(before, older));
        reached = turn;
      }
      const older = await contents();
      await migrateUp(database);
      const newer = await contents();
      expect(within(newer, older)).toStrictEqual(older);
    }
  }

  it('bring a grown database of the first release up, with its totals, its order and its erasures', async () => {
    await migrateUp(database, FIRST_RELEASE);
    const bot = '018f2f00-0000-7000-8000-00000000b07a';
    await database.run(
      `INSERT INTO bots (id, platform_bot_id, name, webhook_secret, created_at, updated_at)
       VALUES (?, '987654321098765432', 'Old', 'sealed', '2025-01-01T00:00:00.000Z', '2025-01-01T00:00:00.000Z')`,
      bot,
    );
    for (const [guild, type, total] of [
      ['', 'data_submitted', 5],
      ['1', 'data_submitted', 3],
      ['2', 'data_submitted', 2],
      ['', 'data_exported', 7],
      ['1', 'data_exported', 7],
    ] as const)
      await database.run('INSERT INTO audit_counts VALUES (?, ?, ?, ?)', bot, guild, type, total);
    for (let seq = 1; seq <= 12; seq++)
      await database.run(
        `INSERT INTO audit_events (bot_id, seq, id, guild_id, user_id, event_type, source, created_at)
         VALUES (?, ?, ?, '1', '2', 'data_exported', 'service', '2025-01-01T00:00:00.000Z')`,
        ...[bot, seq, `id-${seq}`],
      );
    expect(await migrateUp(database)).toHaveLength(ALL - FIRST_RELEASE);
    expect(
      await database.rows(
        `SELECT guild_id, event_type, writer, total FROM audit_counts ORDER BY event_type, guild_id`,
      ),
    ).toStrictEqual([
      { guild_id: '', event_type: 'data_exported', writer: 0, total: 7 },
      { guild_id: '1', event_type: 'data_exported', writer: 0, total: 7 },
      { guild_id: '', event_type: 'data_submitted', writer: 0, total: 5 },
      { guild_id: '1', event_type: 'data_submitted', writer: 0, total: 3 },
      { guild_id: '2', event_type: 'data_submitted', writer: 0, total: 2 },
    ]);
    if (engine === 'postgres') {
      const [next] = await database.rows(`SELECT nextval('audit_events_seq') AS seq`);
      expect(next).toStrictEqual({ seq: 13 });
    }
  });
});
