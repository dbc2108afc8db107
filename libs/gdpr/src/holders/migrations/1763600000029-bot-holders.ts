import { createBotTable, id, integer, nullable, primary, text, time, varchar } from '@app/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The holders of bots, and their tasks to erase. */
export class BotHolders1763600000029 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createBotTable(runner, {
      name: 'bot_holders',
      columns: {
        bot_id: primary(id),
        key: primary(varchar(100)),
        kind: text,
        covers: text,
        label_de: text,
        label_en: text,
        public_key: nullable(text),
        created_at: time,
        updated_at: time,
      },
    });
    await createBotTable(runner, {
      name: 'holder_tasks',
      columns: {
        bot_id: primary(id),
        holder_key: primary(varchar(100)),
        request_id: primary(id),
        created_at: time,
        open: integer,
        result: nullable(text),
        counts: nullable(text),
        kept_basis: nullable(text),
        kept_until: nullable(time),
        statement: nullable(text),
        declared: nullable(text),
        seal: nullable(text),
        answered_at: nullable(time),
      },
      indices: [
        { columnNames: ['bot_id', 'request_id'] },
        { columnNames: ['bot_id', 'holder_key', 'created_at', 'request_id'], where: `"open" = 1` },
        { columnNames: ['bot_id', 'holder_key', 'answered_at', 'request_id'], where: `"open" = 0` },
      ],
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('holder_tasks');
    await runner.dropTable('bot_holders');
  }
}
