import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createBotTable, id, integer, nullable, primary, snowflake, text, time } from '../schema';

/** The audit log in commit order, and the counts that give a list its exact total without counting rows. */
export class Audit1763600000005 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createBotTable(runner, {
      name: 'audit_events',
      large: true,
      columns: {
        bot_id: primary(id),
        seq: primary(integer),
        id,
        guild_id: snowflake,
        user_id: snowflake,
        event_type: { type: 'varchar', length: '32' },
        source: text,
        details: nullable(text),
        created_at: time,
      },
      indices: [
        { columnNames: ['bot_id', 'event_type', 'seq'] },
        { columnNames: ['bot_id', 'guild_id', 'seq'] },
        { columnNames: ['bot_id', 'user_id', 'seq'] },
      ],
    });
    await createBotTable(runner, {
      name: 'audit_counts',
      columns: {
        bot_id: primary(id),
        guild_id: primary(snowflake),
        event_type: primary({ type: 'varchar', length: '32' }),
        total: integer,
      },
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['audit_counts', 'audit_events']) await runner.dropTable(table);
  }
}
