import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allMigrations, sqliteOptions } from '@app/database';
import { getDataSourceToken } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { useService } from './support/service';

interface SchemaRow {
  readonly name: string;
  readonly sql: string | null;
}

const SCHEMA = `SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name`;

describe('the migrated schema', () => {
  const service = useService();

  it('is exactly what the entities declare', async () => {
    const source = service.app.get<DataSource>(getDataSourceToken());
    const { upQueries } = await source.driver.createSchemaBuilder().log();
    expect(upQueries.map(({ query }) => query)).toStrictEqual([]);
  });

  it('keeps every bot to itself: bot_id stands first in every key and unique index but those of the directories', async () => {
    const indices = await service.database.rows<{ tableName: string; first: string }>(
      `SELECT t.name AS tableName, (SELECT name FROM pragma_index_info(i.name) WHERE seqno = 0) AS first
       FROM sqlite_master t JOIN pragma_index_list(t.name) i WHERE t.type = 'table' AND i."unique" = 1`,
    );
    const faults = indices
      .filter(({ first }) => first !== 'bot_id')
      .map(({ tableName, first }) => `${tableName}.${first}`);
    expect(faults.sort()).toStrictEqual([
      'api_keys.digest',
      'bots.id',
      'bots.platform_bot_id',
      'job_leases.name',
    ]);
  });

  it('deletes every row of a bot with the bot', async () => {
    const tables = await service.database.rows<{ name: string; cascades: number }>(
      `SELECT t.name AS name, (SELECT COUNT(*) FROM pragma_foreign_key_list(t.name) k
         WHERE k."table" = 'bots' AND k.on_delete = 'CASCADE') AS cascades
       FROM sqlite_master t WHERE t.type = 'table'
         AND EXISTS (SELECT 1 FROM pragma_table_info(t.name) c WHERE c.name = 'bot_id')`,
    );
    expect(tables.filter(({ cascades }) => cascades !== 1)).toStrictEqual([]);
  });
});

describe('the migrations', () => {
  const directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
  let source: DataSource;
  beforeAll(async () => {
    const options = sqliteOptions(join(directory, 'lethe.db'), 'write');
    source = await new DataSource({ ...options, migrations: allMigrations() }).initialize();
  });
  afterAll(async () => {
    await source.destroy();
    rmSync(directory, { recursive: true });
  });

  const schema = () => source.query<SchemaRow[]>(SCHEMA);

  it('run up, all the way down to an empty schema, and up again to the same one', async () => {
    await source.runMigrations({ transaction: 'all' });
    const first = await schema();
    expect(first.length).toBeGreaterThan(5);
    for (let count = allMigrations().length; count > 0; count--)
      await source.undoLastMigration({ transaction: 'all' });
    expect((await schema()).map(({ name }) => name)).toStrictEqual(['migrations']);
    await source.runMigrations({ transaction: 'all' });
    expect(await schema()).toStrictEqual(first);
  });

  it('do nothing when they have run', async () => {
    await source.runMigrations({ transaction: 'all' });
    const before = await schema();
    expect(await source.runMigrations({ transaction: 'all' })).toStrictEqual([]);
    expect(await schema()).toStrictEqual(before);
  });
});
