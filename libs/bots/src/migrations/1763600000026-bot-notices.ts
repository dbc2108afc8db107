import { createBotTable, id, primary, text, time } from '@app/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a bot says about itself in its privacy notice. */
export class BotNotices1763600000026 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createBotTable(runner, {
      name: 'bot_notices',
      columns: { bot_id: primary(id), text, updated_at: time },
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('bot_notices');
  }
}
