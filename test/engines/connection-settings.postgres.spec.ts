import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { databaseEngine, directClient, PostgresDataSource, postgresOptions } from '@app/database';
import { readConfig } from '@app/kernel';
import { Client } from 'pg';
import type { DataSource } from 'typeorm';
import { bareDatabase, type TestDatabase } from '../support/database';

const directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
const LIMITS = { DATABASE_STATEMENT_TIMEOUT_MS: '17000', DATABASE_LOCK_TIMEOUT_MS: '16000' };
const NAMES = [
  'application_name',
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'plan_cache_mode',
  'default_transaction_read_only',
  'TimeZone',
  'work_mem',
  'idle_session_timeout',
  'transaction_timeout',
];
const FOREIGN =
  'application_name=gdpr&statement_timeout=5000&lock_timeout=5000&idle_in_transaction_session_timeout=5000&query_timeout=5' +
  '&options=-c%20work_mem%3D5MB%20-c%20plan_cache_mode%3Dauto%20-c%20statement_timeout%3D4000%20-c%20TimeZone%3DJapan';
const OF_UNITS = ['lethe', '17s', '16s', '30s', 'force_generic_plan', 'on', 'UTC', '5MB', '1h', '1h'];
const OF_SCHEMA = ['lethe-schema', '0', '0', '1min', 'auto', 'off', 'UTC', '5MB', '0', '0'];

let database: TestDatabase;
let url: string;

beforeAll(async () => {
  database = await bareDatabase(directory);
  url = `${database.url}?${FOREIGN}`;
  // The role and the database may have time limits as well.
  for (const limit of [
    'statement_timeout = 3000',
    'lock_timeout = 3000',
    'idle_session_timeout = 3600000',
    ...(await ofPostgres17()),
  ])
    await database.run(
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET ${limit}', current_database()); END $$`,
    );
});
afterAll(async () => {
  await database.drop();
  rmSync(directory, { recursive: true });
});

const SETTINGS = `SELECT ${NAMES.map((name) => `current_setting('${name}', true) AS "${name}"`).join(', ')}`;

/** A limit that servers before 17 do not know. */
async function ofPostgres17(): Promise<string[]> {
  const found = await database.rows("SELECT 1 FROM pg_settings WHERE name = 'transaction_timeout'");
  return found.map(() => 'transaction_timeout = 3600000');
}

/** What is expected on this server. */
async function known(settings: readonly string[]): Promise<unknown[]> {
  return (await ofPostgres17()).length > 0 ? [...settings] : [...settings.slice(0, -1), null];
}

async function settingsOf(source: DataSource): Promise<unknown[]> {
  await source.initialize();
  try {
    const [row] = await source.query<Record<string, unknown>[]>(SETTINGS);
    return Object.values(row ?? {});
  } finally {
    await source.destroy();
  }
}

describe('the settings of a connection are those of Lethe, whatever the URL and the database say', () => {
  const config = () => readConfig({ DATABASE_URL: url, ...LIMITS });

  it('of a unit', async () => {
    expect(await settingsOf(new PostgresDataSource(postgresOptions(url, config())))).toEqual(
      await known(OF_UNITS),
    );
  });

  it('beside a pooler', async () => {
    const direct = readConfig({ DATABASE_URL: database.url, DATABASE_DIRECT_URL: url, ...LIMITS });
    const given = directClient(database.url, direct);
    expect(given).toMatchObject({ query_timeout: 22_000 });
    const client = new Client(given);
    await client.connect();
    const { rows } = await client.query<Record<string, unknown>>(SETTINGS);
    await client.end();
    expect(Object.values(rows[0] ?? {})).toEqual(await known(OF_UNITS));
  });

  it('of a change of the schema, which has a limit only where its process sends no statement', async () => {
    const engine = databaseEngine(config());
    expect(await settingsOf(engine.schemaSource(engine.options))).toEqual(await known(OF_SCHEMA));
  });
});
