import { createBotTable, digest, id, integer, nullable, primary, text, time, varchar } from '@app/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the holders of bots are asked for by full exports, and what they state. */
export class HolderExports1763600000033 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createBotTable(runner, {
      name: 'holder_exports',
      columns: {
        bot_id: primary(id),
        guild_id: primary(digest),
        user_id: primary(digest),
        holder_key: primary(varchar(100)),
        task_id: id,
        ids: text,
        created_at: time,
        open: integer,
        failed_at: nullable(time),
        result: nullable(text),
        answer: nullable(text),
        answered_at: nullable(time),
      },
      indices: [
        { columnNames: ['bot_id', 'holder_key', 'task_id'], isUnique: true },
        { columnNames: ['bot_id', 'holder_key', 'created_at', 'task_id'], where: `"open" = 1` },
        { columnNames: ['bot_id', 'answered_at'] },
      ],
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('holder_exports');
  }
}
