import {
  createBotTable,
  createTable,
  id,
  nullable,
  primary,
  snowflake,
  text,
  time,
  varchar,
} from '@app/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The tenants and their API keys. */
export class Bots1763600000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createTable(runner, {
      name: 'bots',
      columns: {
        id: primary(id),
        platform_bot_id: snowflake,
        name: text,
        privacy_contact: nullable(text),
        webhook_url: nullable(text),
        webhook_secret: text,
        created_at: time,
        updated_at: time,
        deleted_at: nullable(time),
        webhook_secret_next: nullable(text),
        webhook_secret_next_at: nullable(time),
      },
      indices: [{ columnNames: ['platform_bot_id'], isUnique: true }],
    });
    await createBotTable(runner, {
      name: 'api_keys',
      columns: {
        bot_id: primary(id),
        id: primary(id),
        digest: varchar(64),
        prefix: text,
        created_at: time,
      },
      indices: [{ columnNames: ['digest'], isUnique: true }],
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['api_keys', 'bots']) await runner.dropTable(table);
  }
}
