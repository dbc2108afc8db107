import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The names `privacy_page` and `console` are given by the service alone. Bots could give them before they were reserved, so
 * that no older entry tells who did: it claims none, nor does a receipt about it. The audit events of acts on a page say so
 * themselves (`details.via`). A process of an older version that still runs can write them once more, until the update ends.
 */
export class ReservedSources1763600000024 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `UPDATE consent_history SET source = NULL WHERE source IN ('privacy_page', 'console')`,
    );
  }

  /** What was removed is not known. An older schema has entries without a source too. */
  down(): Promise<void> {
    return Promise.resolve();
  }
}
