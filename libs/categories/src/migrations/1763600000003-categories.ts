import { createBotTable, id, integer, nullable, primary, text, time, varchar } from '@app/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a bot declares that it stores. */
export class Categories1763600000003 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createBotTable(runner, {
      name: 'categories',
      columns: {
        bot_id: primary(id),
        key: primary(varchar(100)),
        id,
        label_de: text,
        label_en: text,
        labels: nullable(text),
        description: nullable(text),
        retention_days: nullable(integer),
        legal_basis: text,
        fields: text,
        created_at: time,
        updated_at: time,
      },
      indices: [{ columnNames: ['bot_id', 'id'], isUnique: true }],
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('categories');
  }
}
