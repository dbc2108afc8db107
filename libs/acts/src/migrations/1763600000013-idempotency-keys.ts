import { createBotTable, digest, id, primary, text, time } from '@app/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The idempotency keys of requests that took effect, with their answers. */
export class IdempotencyKeys1763600000013 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createBotTable(runner, {
      name: 'idempotency_keys',
      columns: {
        bot_id: primary(id),
        id: primary(digest),
        request: digest,
        answer: text,
        created_at: time,
      },
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('idempotency_keys');
  }
}
