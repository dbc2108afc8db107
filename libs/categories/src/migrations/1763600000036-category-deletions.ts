import { addColumn, nullable, time } from '@app/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const LIMITED = 'ix_categories_bot_id_retention_days';

/** When the deletion of a category has begun; and where categories with a time limit are, of which few bots have one. */
export class CategoryDeletions1763600000036 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await addColumn(runner, 'categories', 'deleting_at', nullable(time));
    await runner.query(
      `CREATE INDEX ${LIMITED} ON categories (bot_id, retention_days) WHERE retention_days IS NOT NULL`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX ${LIMITED}`);
    await runner.query('ALTER TABLE categories DROP COLUMN deleting_at');
  }
}
