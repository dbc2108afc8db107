import { addColumn, nullable, text } from '@app/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The purpose of a category in the words of several languages. Those of a field are within `fields`. */
export class Purposes1763600000023 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await addColumn(runner, 'categories', 'purposes', nullable(text));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE categories DROP COLUMN purposes');
  }
}
