import { addColumn, nullable, text } from '@app/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The name that a team gives a key. */
export class KeyNames1763600000028 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await addColumn(runner, 'api_keys', 'name', nullable(text));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE api_keys DROP COLUMN name');
  }
}
