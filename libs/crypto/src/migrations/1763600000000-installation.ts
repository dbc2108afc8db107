import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createTable, primary, varchar } from '@app/database';

/** The installation whose keys the data needs. */
export class Installation1763600000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createTable(runner, {
      name: 'installation',
      columns: {
        id: primary(varchar(43)),
      },
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('installation');
  }
}
