import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createBotTable, id, primary, snowflake, text, time } from '../schema';

/** The stored values: one JSON object per subject and category. */
export class UserData1763600000004 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createBotTable(runner, {
      name: 'user_data',
      large: true,
      columns: {
        bot_id: primary(id),
        guild_id: primary(snowflake),
        user_id: primary(snowflake),
        category_key: primary({ type: 'varchar', length: '100' }),
        value: text,
        created_at: time,
        updated_at: time,
      },
      indices: [{ columnNames: ['bot_id', 'category_key'] }],
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('user_data');
  }
}
