import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createBotTable, id, integer, nullable, primary, snowflake, text, time } from '../schema';

/** The consent in force of every subject, the newer request beside it, and every transition there ever was. */
export class Consents1763600000003 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createBotTable(runner, {
      name: 'consents',
      columns: {
        bot_id: primary(id),
        guild_id: primary(snowflake),
        user_id: primary(snowflake),
        id,
        status: text,
        version: text,
        categories: nullable(text),
        requested_at: time,
        accepted_at: nullable(time),
        revoked_at: nullable(time),
        erasing: integer,
        pending_id: nullable(id),
        pending_version: nullable(text),
        pending_categories: nullable(text),
        pending_requested_at: nullable(time),
      },
      indices: [{ columnNames: ['bot_id', 'id'], isUnique: true }, { columnNames: ['bot_id', 'pending_id'] }],
    });
    await createBotTable(runner, {
      name: 'consent_history',
      columns: {
        bot_id: primary(id),
        guild_id: primary(snowflake),
        user_id: primary(snowflake),
        id: primary(id),
        consent_id: id,
        action: text,
        version: text,
        categories: nullable(text),
        created_at: time,
      },
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['consent_history', 'consents']) await runner.dropTable(table);
  }
}
