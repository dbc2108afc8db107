import { createBotTable, digest, id, nullable, primary, text, time } from '@app/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The links to privacy pages. */
export class PrivacyLinks1763600000022 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createBotTable(runner, {
      name: 'privacy_links',
      columns: {
        bot_id: primary(id),
        id: primary(id),
        token: text,
        key_id: id,
        guild_id: digest,
        user_id: digest,
        subject: text,
        allow: text,
        language: nullable(text),
        created_at: time,
        expires_at: time,
      },
      indices: [
        { columnNames: ['token'], isUnique: true },
        { columnNames: ['bot_id', 'guild_id', 'user_id', 'id'] },
        { columnNames: ['bot_id', 'expires_at'] },
      ],
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('privacy_links');
  }
}
