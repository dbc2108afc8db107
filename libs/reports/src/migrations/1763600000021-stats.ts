import { createBotTable, id, integer, primary, varchar } from '@app/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The counts of the hours of each day. They begin with this migration. */
export class Stats1763600000021 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const hours = Array.from({ length: 24 }, (_, hour) => `h${String(hour).padStart(2, '0')}`);
    await createBotTable(runner, {
      name: 'stats_counts',
      columns: {
        bot_id: primary(id),
        day: primary(varchar(10)),
        name: primary(varchar(32)),
        writer: primary(integer),
        ...Object.fromEntries(hours.map((hour) => [hour, integer])),
      },
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('stats_counts');
  }
}
