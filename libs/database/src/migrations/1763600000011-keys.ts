import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createKeyTables, KEY_TABLES } from '../key-tables';
import { addColumn, isPostgres, nullable, text } from '../schema';

/** What is stored about a subject is encrypted from here on, and what an erasure leaves holds no plain id. */
export class Keys1763600000011 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createKeyTables(runner);
    for (const column of ADDED) await addColumn(runner, 'deletion_requests', column, nullable(text));
  }

  async down(runner: QueryRunner): Promise<void> {
    const [found] = (await runner.query('SELECT 1 FROM keys.subject_keys LIMIT 1')) as unknown[];
    if (found !== undefined)
      throw new Error(
        'Stored data is encrypted: an older Lethe could not read it. Restore a backup instead.',
      );
    for (const column of ADDED) await runner.query(`ALTER TABLE deletion_requests DROP COLUMN ${column}`);
    for (const name of Object.keys(KEY_TABLES)) await runner.query(`DROP TABLE keys.${name}`);
    if (isPostgres(runner)) await runner.query('DROP SCHEMA keys');
  }
}

/** The ids of an erased subject, sealed; what the certificate binds them by; the key, the rows; the certificate. */
const ADDED = ['subject', 'subject_commitment', 'key_id', 'erased_rows', 'certificate'];
