import { Entity, PrimaryColumn } from 'typeorm';
import { IdColumn, TimeColumn } from '@app/database';

/** Who does a job that only one process may do at a time, and until when unless it says so again. */
@Entity('job_leases')
export class JobLease {
  @PrimaryColumn({ type: 'text' }) name: string;
  @IdColumn({ name: 'locked_by', nullable: true }) lockedBy: string | null;
  @TimeColumn({ name: 'locked_until' }) lockedUntil: string;
}
