import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { newDatabase, engine, type TestDatabase } from '../support/database';
import { expectOfModules } from '../support/further-modules';
import { migrateUp, onSchema } from '../support/migrating';
import { schemaOf } from '../support/schema-dump';
import { useServiceInProcess } from '../support/service';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const service = useServiceInProcess();

/** The changes that would make the schema equal to the entities. */
async function drift(source: DataSource): Promise<string[]> {
  const { upQueries } = await source.driver.createSchemaBuilder().log();
  return upQueries.map(({ query }) => query);
}

/** The tables of Lethe itself. Those of further modules are held to the rules for all tables, but to none of the lists. */
const OWN_TABLES = [
  ...['api_keys', 'audit_batches', 'audit_counts', 'audit_events', 'audit_heads'],
  ...['bot_holders', 'bot_notices', 'bots', 'categories'],
  ...[
    'consent_history',
    'consent_texts',
    'consent_words',
    'consents',
    'deletion_requests',
    'holder_exports',
    'holder_tasks',
    'idempotency_keys',
    'installation',
    'job_leases',
    'privacy_links',
    'processing_refusals',
    'servers',
    'stats_consents',
    'stats_counts',
    'storage_samples',
    'subjects',
    'user_data',
  ],
  ...['webhook_attempts', 'webhook_deliveries', 'webhook_health', 'webhook_url_changes'],
];

const isOwn = (index: string): boolean => OWN_TABLES.includes(/^\w+/.exec(index)?.[0] ?? '');

/** The columns of every unique index, the primary keys among them, as `table(column, column)`. */
async function uniqueIndices(): Promise<string[]> {
  const rows = await service.database.rows<{ name: string }>(
    engine === 'sqlite'
      ? `SELECT t.name || '(' || (SELECT group_concat(name, ', ') FROM pragma_index_info(i.name)) || ')' AS name
         FROM sqlite_master t JOIN pragma_index_list(t.name) i WHERE t.type = 'table' AND i."unique" = 1`
      : `SELECT t.relname || '(' || (SELECT string_agg(pg_get_indexdef(i.indexrelid, n, false), ', ' ORDER BY n)
           FROM generate_series(1, i.indnkeyatts) n) || ')' AS name
         FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
         WHERE t.relnamespace = 'public'::regnamespace AND i.indisunique AND NOT t.relispartition
           AND t.relname <> 'migrations'`,
  );
  return rows.map(({ name }) => name).sort();
}

describe('the migrated schema', () => {
  it('has no tables but those of Lethe and of the modules that are registered', async () => {
    const names = (await service.database.tables()).map(({ name }) => name);
    const others = names.filter((name) => !name.includes('.') && name !== 'migrations' && !isOwn(name));
    expectOfModules(others);
    expect(names).toEqual(expect.arrayContaining(OWN_TABLES));
  });

  it('is exactly what the entities declare', async () => {
    expect(await drift(service.app.get<DataSource>(getDataSourceToken()))).toStrictEqual([]);
  });

  it('keeps every bot to itself: bot_id is first in every key and unique index but those of the directories', async () => {
    const indices = await uniqueIndices();
    expect(indices.length).toBeGreaterThan(15);
    expect(indices.filter((index) => !index.includes('(bot_id'))).toStrictEqual([
      'api_keys(digest)',
      'bots(id)',
      'bots(platform_bot_id)',
      'installation(id)',
      'job_leases(name)',
      'privacy_links(token)',
      'storage_samples(day)',
    ]);
  });

  it('is spread over servers by bot_id as docs/scale.md says: each table by it, or whole on each server', async () => {
    const page = readFileSync(join(__dirname, '../../docs/scale.md'), 'utf8');
    const [whole = [], spread = []] = [...page.matchAll(/unnest\(ARRAY\[([^\]]+)\]\)/g)].map(
      ([, list = '']) => [...list.matchAll(/'(\w+)'/g)].map(([, name = '']) => name),
    );
    const indices = (await uniqueIndices()).filter((index) => !index.includes('(bot_id'));
    const others = new Set(indices.map((index) => /^\w+/.exec(index)?.[0] ?? ''));
    expect(whole.sort()).toEqual(OWN_TABLES.filter((name) => others.has(name)).sort());
    expect(spread.sort()).toEqual(OWN_TABLES.filter((name) => !others.has(name)).sort());
  });

  it('has the same keys and unique indices on every engine', async () => {
    expect((await uniqueIndices()).filter(isOwn)).toMatchInlineSnapshot(`
     [
       "api_keys(bot_id, id)",
       "api_keys(digest)",
       "audit_batches(bot_id, number)",
       "audit_counts(bot_id, guild_id, event_type, writer)",
       "audit_events(bot_id, seq)",
       "audit_heads(bot_id)",
       "bot_holders(bot_id, key)",
       "bot_notices(bot_id)",
       "bots(id)",
       "bots(platform_bot_id)",
       "categories(bot_id, id)",
       "categories(bot_id, key)",
       "consent_history(bot_id, guild_id, user_id, id)",
       "consent_texts(bot_id, consent_version, language)",
       "consent_words(bot_id, digest)",
       "consents(bot_id, guild_id, user_id)",
       "consents(bot_id, id)",
       "deletion_requests(bot_id, id)",
       "deletion_requests(bot_id, user_id)",
       "holder_exports(bot_id, guild_id, user_id, holder_key)",
       "holder_exports(bot_id, holder_key, task_id)",
       "holder_tasks(bot_id, holder_key, request_id)",
       "idempotency_keys(bot_id, id)",
       "installation(id)",
       "job_leases(name)",
       "privacy_links(bot_id, id)",
       "privacy_links(token)",
       "processing_refusals(bot_id, guild_id, user_id, category_key, kind)",
       "servers(bot_id, guild_id)",
       "servers(bot_id, id)",
       "stats_consents(bot_id, day)",
       "stats_counts(bot_id, day, name, writer)",
       "storage_samples(day)",
       "subjects(bot_id, guild_id, user_id)",
       "user_data(bot_id, guild_id, user_id, category_key)",
       "webhook_attempts(bot_id, delivery_id, number)",
       "webhook_deliveries(bot_id, id)",
       "webhook_health(bot_id)",
       "webhook_url_changes(bot_id)",
     ]
    `);
  });

  it('deletes every row of a bot with the bot', async () => {
    // The tables of the keys are in another file and have statements of their own.
    const tables = (await service.database.tables()).filter(
      ({ name, columns }) => columns.includes('bot_id') && !name.startsWith('keys.'),
    );
    const cascades = (await schemaOf(service.database)).join('\n');
    const without = tables.filter(({ name }) =>
      engine === 'sqlite'
        ? !new RegExp(
            `table ${name}: .*"fk_${name}_bot" FOREIGN KEY \\("bot_id"\\) REFERENCES "bots" \\("id"\\) ON DELETE CASCADE`,
          ).test(cascades)
        : !cascades.includes(
            `constraint ${name}.fk_${name}_bot: FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE`,
          ),
    );
    expect(tables.length).toBeGreaterThan(10);
    expect(without).toStrictEqual([]);
  });

  it('has the partial indices that the entities name: TypeORM does not compare their conditions', async () => {
    const partial = (await schemaOf(service.database))
      .filter((line) => /^index .*where/i.test(line) && !/_p\d\d/.test(line))
      .filter((line) => OWN_TABLES.some((table) => line.includes(`ix_${table}_`)))
      .map(
        (line) =>
          /ix_\w+/.exec(line)?.[0] + ' ' + /where (.*)/i.exec(line)?.[1]?.replace(/[()"]|::text/g, ''),
      )
      .sort();
    expect(partial).toStrictEqual([
      'ix_categories_bot_id_retention_days retention_days IS NOT NULL',
      `ix_deletion_requests_bot_id_user_id status = 'processing'`,
      `ix_deletion_requests_id unrecoverable_at IS NULL AND key_id IS NOT NULL`,
      `ix_holder_exports_bot_id_holder_key_created_at_task_id open = 1`,
      `ix_holder_tasks_bot_id_holder_key_answered_at_request_id open = 0`,
      `ix_holder_tasks_bot_id_holder_key_created_at_request_id open = 1`,
      `ix_servers_bot_id_deletion_scheduled_for deletion_scheduled_for IS NOT NULL`,
      `ix_user_data_bot_id_withdrawn_at withdrawn_at IS NOT NULL`,
      `ix_webhook_deliveries_bot_id_next_attempt_at status = 'pending'`,
    ]);
  });
});

describe('a drift that was planted', () => {
  const directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
  let database: TestDatabase;
  beforeEach(async () => {
    database = await newDatabase(directory);
    await migrateUp(database);
  });
  afterEach(() => database.drop());
  afterAll(() => rmSync(directory, { recursive: true }));

  const EVERYWHERE = [
    'DROP INDEX ix_audit_events_bot_id_guild_id_seq',
    'DROP INDEX ix_consents_bot_id_id; CREATE INDEX ix_consents_bot_id_id ON consents (bot_id, id)',
    'ALTER TABLE audit_events DROP COLUMN created_at',
    'ALTER TABLE user_data ADD COLUMN more text',
    'CREATE INDEX ix_more ON audit_events (source)',
    'DROP TABLE job_leases',
  ];
  const ON_POSTGRES = [
    'ALTER TABLE audit_events DROP CONSTRAINT fk_audit_events_bot',
    'ALTER TABLE audit_events DROP CONSTRAINT pk_audit_events',
    'ALTER TABLE audit_events ALTER COLUMN source DROP NOT NULL',
    'ALTER TABLE audit_events ALTER COLUMN source TYPE text COLLATE "default"',
    'ALTER TABLE audit_events ALTER COLUMN event_type TYPE varchar(10) COLLATE "C"',
    'ALTER TABLE consents ALTER COLUMN erasing TYPE integer',
    `ALTER TABLE consents ALTER COLUMN status SET DEFAULT 'pending'`,
  ];

  it.each(engine === 'sqlite' ? EVERYWHERE : [...EVERYWHERE, ...ON_POSTGRES])(
    'is found: %s',
    async (change) => {
      for (const statement of change.split('; ')) await database.run(statement);
      expect(await onSchema(database, drift, { withEntities: true })).not.toStrictEqual([]);
    },
  );
});
