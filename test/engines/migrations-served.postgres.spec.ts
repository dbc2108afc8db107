import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allMigrations, bringUpToDate } from '@app/database';
import type { DataSource } from 'typeorm';
import { Client } from 'pg';
import { newDatabase, type TestDatabase } from '../support/database';
import { adminHere } from '../support/here';
import { migrateUp, onSchema } from '../support/migrating';
import { RegionsFrom1763600000022To1790000000011 } from '../support/rolling-release';
import { until } from '../support/until';

const NEWEST = allMigrations().at(-1)?.name.slice(-13) ?? '';

let directory: string;
let database: TestDatabase;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
  database = await newDatabase(directory);
});
afterEach(async () => {
  await database.drop();
  rmSync(directory, { recursive: true, force: true });
});

async function hasRun(...names: readonly string[]): Promise<void> {
  for (const name of names)
    await database.run(
      'INSERT INTO migrations (timestamp, name) VALUES (?, ?)',
      Number(name.slice(-13)),
      name,
    );
}

const open = (access: 'migrate' | 'check' | 'read', migrations = allMigrations()): Promise<void> =>
  onSchema(database, (source: DataSource) => bringUpToDate(source, access), { migrations });

describe('a database with migrations of a newer release', () => {
  it('is served where the name of each says that this release serves beside it', async () => {
    await hasRun(`AFrom${NEWEST}To1790000000001`, 'BFrom1763600000022To1790000000002');
    for (const access of ['migrate', 'check', 'read'] as const) await open(access);
    expect(await adminHere(['db:migrate'], { DATABASE_URL: database.url })).toMatchObject({ code: 0 });
  });

  it.each([
    ['says nothing', 'Newer1790000000001'],
    ['begins with a migration that this release does not have', 'NewerFrom1780000000000To1790000000001'],
    ['only contains such words', `NewerFrom${NEWEST}To1790000000001More1790000000002`],
  ])('is refused where the name of one %s', async (_, name) => {
    await hasRun(`AFrom${NEWEST}To1780000000001`, name);
    for (const access of ['migrate', 'check', 'read'] as const)
      await expect(open(access)).rejects.toThrow(
        `was written by a newer Lethe, or by one with another module`,
      );
  });

  it('is refused where a migration of this release is missing', async () => {
    const [last] = allMigrations().slice(-1);
    await database.run('DELETE FROM migrations WHERE name = ?', last?.name ?? '');
    await hasRun('AFrom1763600000000To1790000000001');
    await expect(open('migrate')).rejects.toThrow('was written by a newer Lethe');
  });

  it('is changed by no db:revert, and moved by no db:move', async () => {
    await hasRun(`AFrom${NEWEST}To1790000000001`);
    const to = `sqlite:${join(directory, 'moved.db')}`;
    for (const args of [['db:revert'], ['db:move', '--from', database.url, '--to', to]]) {
      const { code, output } = await adminHere(args, { DATABASE_URL: database.url });
      expect([args[0], code]).toStrictEqual([args[0], 1]);
      expect(output).toContain('was written by a newer Lethe');
    }
  });
});

describe('migrations that meet a long transaction', () => {
  const connected = async (): Promise<Client> => {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    return client;
  };

  it('let those of others through, and are done once it has ended', async () => {
    const [long, other] = [await connected(), await connected()];
    await long.query('BEGIN; SELECT COUNT(*) FROM user_data');
    const done = migrateUp(database, [...allMigrations(), RegionsFrom1763600000022To1790000000011]);
    const waits = `SELECT 1 FROM pg_stat_activity WHERE application_name = 'lethe-schema' AND wait_event_type = 'Lock'
      AND datname = current_database()`;
    await until(async () => (await database.rows(waits)).length > 0, 5);
    // As long as a statement of the service waits.
    await other.query(`SET lock_timeout = '5s'`);
    for (const table of ['servers', 'user_data']) await other.query(`SELECT COUNT(*) FROM ${table}`);
    await long.query('COMMIT');
    expect(await done).toStrictEqual([RegionsFrom1763600000022To1790000000011.name]);
    for (const client of [long, other]) await client.end();
  });
});
