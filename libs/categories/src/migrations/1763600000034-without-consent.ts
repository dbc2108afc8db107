import { addColumn, nullable, text } from '@app/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Why a category is stored without a consent; null for one that needs a consent. */
export class WithoutConsent1763600000034 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await addColumn(runner, 'categories', 'without_consent', nullable(text));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE categories DROP COLUMN without_consent');
  }
}
