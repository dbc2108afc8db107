import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addColumn, createBotTable, id, nullable, primary, text, time } from '../schema';

/** What the history of consents says beside the act itself. */
const SHOWN = { language: { type: 'varchar', length: '35' }, texts: text, source: text } as const;

/** The texts that users are shown, and which of them each entry of the history is about. */
export class ConsentEvidence1763600000013 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createBotTable(runner, {
      name: 'consent_texts',
      columns: {
        bot_id: primary(id),
        consent_version: primary({ type: 'varchar', length: '64' }),
        language: primary(SHOWN.language),
        digest: text,
        content: text,
        notice: nullable(text),
        created_at: time,
      },
    });
    for (const [name, shape] of Object.entries(SHOWN))
      await addColumn(runner, 'consent_history', name, shape);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const name of Object.keys(SHOWN))
      await runner.query(`ALTER TABLE consent_history DROP COLUMN ${name}`);
    await runner.dropTable('consent_texts');
  }
}
