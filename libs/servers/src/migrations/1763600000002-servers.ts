import { createBotTable, id, nullable, primary, digest, text, time } from '@app/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The guilds of a bot. */
export class Servers1763600000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createBotTable(runner, {
      name: 'servers',
      columns: {
        bot_id: primary(id),
        guild_id: primary(digest),
        id,
        text,
        created_at: time,
        deletion_scheduled_for: nullable(time),
        deletion_began_at: nullable(time),
      },
      indices: [
        { columnNames: ['bot_id', 'id'], isUnique: true },
        { columnNames: ['bot_id', 'deletion_scheduled_for'], where: '"deletion_scheduled_for" IS NOT NULL' },
      ],
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('servers');
  }
}
