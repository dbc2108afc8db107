import { createBotTable, id, integer, nullable, primary, digest, text, time } from '@app/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The erasure requests. The partial unique index answers 409 while one is under way. */
export class Deletions1763600000008 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createBotTable(runner, {
      name: 'deletion_requests',
      columns: {
        bot_id: primary(id),
        id: primary(id),
        guild_id: digest,
        user_id: digest,
        status: text,
        deleted_categories: nullable(text),
        webhook_sent: integer,
        created_at: time,
        completed_at: nullable(time),
        unrecoverable_at: nullable(time),
        subject: nullable(text),
        subject_commitment: nullable(text),
        key_id: nullable(text),
        erased_rows: nullable(text),
        certificate: nullable(text),
        via: nullable(text),
      },
      indices: [
        { columnNames: ['bot_id', 'guild_id', 'user_id', 'id'] },
        { columnNames: ['id'], where: `"unrecoverable_at" IS NULL AND "key_id" IS NOT NULL` },
        { columnNames: ['bot_id', 'user_id'], isUnique: true, where: `"status" = 'processing'` },
      ],
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('deletion_requests');
  }
}
