import { createBotTable, id, integer, primary, time, varchar } from '@app/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The counts by hour and by day. They begin with this migration. */
export class Stats1763600000021 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createBotTable(runner, {
      name: 'stats_counts',
      columns: {
        bot_id: primary(id),
        bucket: primary(varchar(4)),
        begins_at: primary(time),
        name: primary(varchar(32)),
        writer: primary(integer),
        total: integer,
        longest_ms: integer,
      },
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('stats_counts');
  }
}
