import {
  addColumn,
  createBotTable,
  createKeyTable,
  digest,
  id,
  indexName,
  integer,
  type KeysMigration,
  nullable,
  primary,
  text,
  varchar,
} from '@app/database';
import { type MigrationInterface, type QueryRunner, TableIndex } from 'typeorm';

const INDEX = ['bot_id', 'updated_at'];
const COUNTS = {
  bot_id: primary(id),
  guild_id: primary(digest),
  event_type: primary(varchar(32)),
  writer: primary(integer),
  total: integer,
};

/** A possible later release: adds columns and an index to filled tables, and rebuilds a table. */
export class NextRelease4000000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await addColumn(runner, 'servers', 'region', { ...text, default: `'none'` });
    await addColumn(runner, 'user_data', 'note', nullable(text));
    const name = indexName('user_data', INDEX);
    await runner.createIndex('user_data', new TableIndex({ name, columnNames: INDEX }));
    await this.makeCounts(runner, { ...COUNTS, share: integer }, 'total, 0');
  }

  async down(runner: QueryRunner): Promise<void> {
    await this.makeCounts(runner, COUNTS, 'total');
    await runner.dropIndex('user_data', indexName('user_data', INDEX));
    await runner.query('ALTER TABLE user_data DROP COLUMN note');
    await runner.query('ALTER TABLE servers DROP COLUMN region');
  }

  private async makeCounts(
    runner: QueryRunner,
    columns: Parameters<typeof createBotTable>[1]['columns'],
    values: string,
  ): Promise<void> {
    await runner.query('CREATE TABLE audit_counts_before AS SELECT * FROM audit_counts');
    await runner.dropTable('audit_counts');
    await createBotTable(runner, { name: 'audit_counts', columns });
    await runner.query(
      `INSERT INTO audit_counts SELECT bot_id, guild_id, event_type, writer, ${values} FROM audit_counts_before`,
    );
    await runner.dropTable('audit_counts_before');
  }
}

/** A further table of keys. */
export class NextKeys4000000000002 implements KeysMigration {
  readonly isOfKeys = true;

  async up(runner: QueryRunner): Promise<void> {
    await createKeyTable(runner, { name: 'next_keys', columns: { id: primary(id), sealed: text } });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE keys.next_keys');
  }
}
