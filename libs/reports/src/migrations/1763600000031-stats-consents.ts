import { createBotTable, id, integer, primary, time, varchar } from '@app/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How many subjects are under consent, by day. The numbers begin with this migration. */
export class StatsConsents1763600000031 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createBotTable(runner, {
      name: 'stats_consents',
      columns: { bot_id: primary(id), day: primary(varchar(10)), total: integer, counted_at: time },
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('stats_consents');
  }
}
