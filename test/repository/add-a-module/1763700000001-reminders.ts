import { createBotTable, digest, id, nullable, primary, text, time } from '@app/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The table of the reminders; its rows are removed with their bot. */
export class Reminders1763700000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createBotTable(runner, {
      name: 'reminders',
      columns: {
        bot_id: primary(id),
        guild_id: primary(digest),
        user_id: primary(digest),
        id: primary(id),
        text,
        due_at: time,
        updated_at: time,
        withdrawn_at: nullable(time),
      },
      indices: [
        { columnNames: ['bot_id', 'updated_at'] },
        { columnNames: ['bot_id', 'withdrawn_at'], where: '"withdrawn_at" IS NOT NULL' },
      ],
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('reminders');
  }
}
