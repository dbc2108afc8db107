import { createBotTable, id, integer, nullable, primary, text, time } from '@app/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The sealed batches of the audit log, and the head of each log. */
export class Sealing1763600000007 implements MigrationInterface {
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
