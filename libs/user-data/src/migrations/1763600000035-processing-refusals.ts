import { createBotTable, digest, id, primary, time, varchar } from '@app/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What users have objected to or restricted: at most one row for each subject, category and kind. */
export class ProcessingRefusals1763600000035 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createBotTable(runner, {
      name: 'processing_refusals',
      columns: {
        bot_id: primary(id),
        guild_id: primary(digest),
        user_id: primary(digest),
        category_key: primary(varchar(100)),
        kind: primary(varchar(16)),
        created_at: time,
      },
      indices: [{ columnNames: ['bot_id', 'category_key'] }],
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('processing_refusals');
  }
}
