import { createTable, integer, primary, varchar } from '@app/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The size of the installation on each day. */
export class StorageSamples1763600000025 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createTable(runner, {
      name: 'storage_samples',
      columns: { day: primary(varchar(10)), bytes: integer, bots: integer, users: integer },
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('storage_samples');
  }
}
