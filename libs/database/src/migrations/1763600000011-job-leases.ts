import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createTable, id, nullable, primary, text, time } from '../schema';

/** Which process does a job, and until when. */
export class JobLeases1763600000011 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createTable(runner, {
      name: 'job_leases',
      columns: {
        name: primary(text),
        locked_by: nullable(id),
        locked_until: time,
      },
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('job_leases');
  }
}
