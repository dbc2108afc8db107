import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createBotTable, id, primary } from '../schema';

/** How far the deliveries of a bot have followed its new URL, while they do. */
export class UrlChanges1763600000010 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createBotTable(runner, {
      name: 'webhook_url_changes',
      columns: { bot_id: primary(id), after_id: id },
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('webhook_url_changes');
  }
}
