import { createBotTable, digest, id, primary } from '@app/database';
import { StartError } from '@app/kernel';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The subjects about whom anything is held, each with the id of its key. */
export class Subjects1763600000012 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createBotTable(runner, {
      name: 'subjects',
      large: true,
      columns: {
        bot_id: primary(id),
        guild_id: primary(digest),
        user_id: primary(digest),
        key_id: id,
      },
      indices: [{ columnNames: ['bot_id', 'user_id', 'guild_id'] }, { columnNames: ['key_id'] }],
    });
  }

  /** @throws StartError when it holds a row, since without it no key is found */
  async down(runner: QueryRunner): Promise<void> {
    const found = (await runner.query('SELECT 1 FROM subjects LIMIT 1')) as unknown[];
    if (found.length > 0)
      throw new StartError(
        'subjects is not empty: without it no stored data can be read. Nothing was changed; to begin anew, use another database.',
      );
    await runner.dropTable('subjects');
  }
}
