import { createBotTable, id, integer, nullable, primary, text, time, varchar } from '@app/database';
import { StartError } from '@app/kernel';
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

  /** @throws StartError while there is an open task: no store would be asked for it again */
  async down(runner: QueryRunner): Promise<void> {
    const open = (await runner.query('SELECT 1 FROM holder_tasks WHERE open = 1 LIMIT 1')) as unknown[];
    if (open.length > 0)
      throw new StartError(
        'A store of a bot has a task to erase that it has not answered, and it would never be asked again. Nothing was changed. Start this version until every holder has answered, or delete the holder with abandon=true.',
      );
    await runner.dropTable('holder_tasks');
    await runner.dropTable('bot_holders');
  }
}
