import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createBotTable, id, integer, nullable, primary, text, time } from '../schema';

/** The seals of the audit log, and how far each log is sealed. What was written before is sealed as it stands. */
export class AuditSealing1763600000012 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createBotTable(runner, {
      name: 'audit_batches',
      large: true,
      columns: {
        bot_id: primary(id),
        number: primary(integer),
        first_seq: integer,
        last_seq: integer,
        events: integer,
        min_id: id,
        max_id: id,
        entries: text,
        root: text,
        identities: text,
        previous: text,
        chain: text,
        sealed_at: time,
        signature: text,
      },
      indices: [{ columnNames: ['bot_id', 'max_id', 'min_id'] }],
    });
    await createBotTable(runner, {
      name: 'audit_heads',
      columns: {
        bot_id: primary(id),
        number: integer,
        last_seq: integer,
        chain: text,
        pruned_number: integer,
        pruning: nullable(text),
      },
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['audit_heads', 'audit_batches']) await runner.dropTable(table);
  }
}
