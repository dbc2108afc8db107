import { createBotTable, id, nullable, primary, digest, text, time, varchar } from '@app/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The stored values: one JSON object for each subject and category. */
export class UserData1763600000005 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createBotTable(runner, {
      name: 'user_data',
      large: true,
      columns: {
        bot_id: primary(id),
        guild_id: primary(digest),
        user_id: primary(digest),
        category_key: primary(varchar(100)),
        value: text,
        created_at: time,
        updated_at: time,
        retention_from: { ...time, default: `''` },
        withdrawn_at: nullable(time),
      },
      indices: [
        { columnNames: ['bot_id', 'category_key', 'retention_from'] },
        { columnNames: ['bot_id', 'withdrawn_at'], where: '"withdrawn_at" IS NOT NULL' },
      ],
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('user_data');
  }
}
