import { createBotTable, id, integer, nullable, primary, digest, text, time, varchar } from '@app/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The consent of each subject, the history of its decisions, and the texts that users are shown. */
export class Consents1763600000004 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createBotTable(runner, {
      name: 'consents',
      columns: {
        bot_id: primary(id),
        guild_id: primary(digest),
        user_id: primary(digest),
        id,
        status: text,
        version: text,
        categories: nullable(text),
        requested_at: time,
        accepted_at: nullable(time),
        revoked_at: nullable(time),
        erasing: integer,
        pending_id: nullable(id),
        pending_version: nullable(text),
        pending_categories: nullable(text),
        pending_requested_at: nullable(time),
        before_request: nullable(text),
      },
      indices: [{ columnNames: ['bot_id', 'id'], isUnique: true }, { columnNames: ['bot_id', 'pending_id'] }],
    });
    await createBotTable(runner, {
      name: 'consent_history',
      columns: {
        bot_id: primary(id),
        guild_id: primary(digest),
        user_id: primary(digest),
        id: primary(id),
        consent_id: id,
        action: text,
        version: text,
        categories: nullable(text),
        created_at: time,
        language: nullable(varchar(35)),
        texts: nullable(text),
        source: nullable(text),
      },
      indices: [{ columnNames: ['bot_id', 'created_at'] }],
    });
    await createBotTable(runner, {
      name: 'consent_texts',
      columns: {
        bot_id: primary(id),
        consent_version: primary(varchar(64)),
        language: primary(varchar(35)),
        digest: text,
        content: text,
        notice: nullable(text),
        created_at: time,
      },
    });
    await createBotTable(runner, {
      name: 'consent_words',
      columns: { bot_id: primary(id), digest: primary(varchar(71)), content: text, created_at: time },
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['consent_words', 'consent_texts', 'consent_history', 'consents'])
      await runner.dropTable(table);
  }
}
