import { createBotTable, digest, id, nullable, primary, text, time } from '@app/database';
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
        guild_id: nullable(digest),
        user_id: nullable(digest),
        answer: nullable(text),
        created_at: time,
      },
      indices: [{ columnNames: ['bot_id', 'guild_id', 'user_id'], where: '"user_id" IS NOT NULL' }],
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('idempotency_keys');
  }
}
