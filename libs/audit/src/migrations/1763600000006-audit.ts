import {
  createBotTable,
  id,
  integer,
  isPostgres,
  partsOf,
  primary,
  digest,
  text,
  time,
  varchar,
} from '@app/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The audit log in commit order, and the counts that give a list its exact total. */
export class Audit1763600000006 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    if (isPostgres(runner)) await runner.query('CREATE SEQUENCE audit_events_seq');
    await createBotTable(runner, {
      name: 'audit_events',
      large: true,
      columns: {
        bot_id: primary(id),
        seq: primary(integer),
        id,
        guild_id: digest,
        user_id: digest,
        event_type: varchar(32),
        source: text,
        details: text,
        created_at: time,
      },
      indices: [
        { columnNames: ['bot_id', 'event_type', 'seq'] },
        { columnNames: ['bot_id', 'guild_id', 'seq'] },
        { columnNames: ['bot_id', 'guild_id', 'event_type', 'seq'] },
        { columnNames: ['bot_id', 'user_id', 'seq', 'guild_id', 'event_type'] },
      ],
    });
    if (isPostgres(runner)) {
      // VACUUM runs after 1 % of new events instead of 20 %, so that index-only scans stay fast.
      for (const part of await partsOf(runner, 'audit_events'))
        await runner.query(
          `ALTER TABLE "${part}" SET (autovacuum_vacuum_insert_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02)`,
        );
    }
    await createBotTable(runner, {
      name: 'audit_counts',
      columns: {
        bot_id: primary(id),
        guild_id: primary(digest),
        event_type: primary(varchar(32)),
        writer: primary(integer),
        total: integer,
      },
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['audit_counts', 'audit_events']) await runner.dropTable(table);
    if (isPostgres(runner)) await runner.query('DROP SEQUENCE audit_events_seq');
  }
}
