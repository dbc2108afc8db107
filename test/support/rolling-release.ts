import { addColumn, createBotTable, digest, id, integer, nullable, primary, text } from '@app/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The first part of an upgrade in which old and new processes serve together: it adds what the older ones never name. */
export class RegionsFrom1763600000022To1790000000011 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await addColumn(runner, 'servers', 'region', { ...text, default: `'none'` });
    await addColumn(runner, 'user_data', 'note', nullable(text));
    await createBotTable(runner, {
      name: 'regions',
      columns: { bot_id: primary(id), guild_id: primary(digest), total: integer },
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('regions');
    await runner.query('ALTER TABLE user_data DROP COLUMN note');
    await runner.query('ALTER TABLE servers DROP COLUMN region');
  }
}

/**
 * The last part, of the release after that one: it removes what the processes of that release do not name any more. Those
 * of the release before it are refused from here on.
 */
export class OneRegionFrom1790000000011To1790000000012 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE servers DROP COLUMN region');
    await runner.query('ALTER TABLE user_data DROP COLUMN note');
  }

  async down(runner: QueryRunner): Promise<void> {
    await addColumn(runner, 'user_data', 'note', nullable(text));
    await addColumn(runner, 'servers', 'region', { ...text, default: `'none'` });
  }
}
