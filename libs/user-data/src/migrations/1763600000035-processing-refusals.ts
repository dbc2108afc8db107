import { createBotTable, digest, id, primary, time, varchar } from '@app/database';
import { StartError } from '@app/kernel';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What users have objected to or restricted: at most one row for each subject, category and kind. */
export class ProcessingRefusals1763600000035 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createBotTable(runner, {
      name: 'processing_refusals',
      columns: {
        bot_id: primary(id),
        guild_id: primary(digest),
        user_id: primary(digest),
        category_key: primary(varchar(100)),
        kind: primary(varchar(16)),
        created_at: time,
      },
      indices: [{ columnNames: ['bot_id', 'category_key'] }],
    });
  }

  /** @throws StartError while there is an objection or a restriction: the older version would act against it */
  async down(runner: QueryRunner): Promise<void> {
    const refusals = (await runner.query('SELECT 1 FROM processing_refusals LIMIT 1')) as unknown[];
    if (refusals.length > 0)
      throw new StartError(
        'An objection or a restriction of a user is in force, and the older version would store and read what it forbids. Nothing was changed. Stay on this version while there is one.',
      );
    await runner.dropTable('processing_refusals');
  }
}
