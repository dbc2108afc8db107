import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createBotTable, id, integer, nullable, primary, snowflake, text, time } from '../schema';

/** The erasure requests; the partial index is what answers 409 while one is under way. */
export class Deletions1763600000006 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createBotTable(runner, {
      name: 'deletion_requests',
      columns: {
        bot_id: primary(id),
        id: primary(id),
        guild_id: snowflake,
        user_id: snowflake,
        status: text,
        deleted_categories: nullable(text),
        webhook_sent: integer,
        created_at: time,
        completed_at: nullable(time),
      },
      indices: [
        { columnNames: ['bot_id', 'guild_id', 'user_id'] },
        { columnNames: ['bot_id', 'user_id'], isUnique: true, where: `"status" = 'processing'` },
      ],
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('deletion_requests');
  }
}
