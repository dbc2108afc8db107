import type { MigrationInterface, QueryRunner } from 'typeorm';
import {
  CONTINUE_AUDIT_ORDER,
  createBotTable,
  createTable,
  id,
  integer,
  isPostgres,
  nullable,
  primary,
  snowflake,
  text,
  time,
} from '../schema';

const counts = {
  bot_id: primary(id),
  guild_id: primary(snowflake),
  event_type: primary({ type: 'varchar', length: '32' }),
};

/**
 * What several processes need: the order of audit events from a sequence, counts that no two writers wait for each
 * other to change, and the leases of jobs.
 */
export class ManyProcesses1763600000008 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    if (isPostgres(runner)) {
      await runner.query('CREATE SEQUENCE audit_events_seq');
      await runner.query(CONTINUE_AUDIT_ORDER);
    }
    await setAside(runner);
    await createBotTable(runner, {
      name: 'audit_counts',
      columns: { ...counts, writer: primary(integer), total: integer },
    });
    await runner.query(
      `INSERT INTO audit_counts (bot_id, guild_id, event_type, writer, total)
       SELECT bot_id, guild_id, event_type, 0, total FROM audit_counts_before`,
    );
    await runner.dropTable('audit_counts_before');
    await createTable(runner, {
      name: 'job_leases',
      columns: { name: primary(text), locked_by: nullable(id), locked_until: time },
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('job_leases');
    await setAside(runner);
    await createBotTable(runner, { name: 'audit_counts', columns: { ...counts, total: integer } });
    await runner.query(
      `INSERT INTO audit_counts (bot_id, guild_id, event_type, total)
       SELECT bot_id, guild_id, event_type, SUM(total) FROM audit_counts_before GROUP BY bot_id, guild_id, event_type`,
    );
    await runner.dropTable('audit_counts_before');
    if (isPostgres(runner)) await runner.query('DROP SEQUENCE audit_events_seq');
  }
}

async function setAside(runner: QueryRunner): Promise<void> {
  await runner.query('CREATE TABLE audit_counts_before AS SELECT * FROM audit_counts');
  await runner.dropTable('audit_counts');
}
