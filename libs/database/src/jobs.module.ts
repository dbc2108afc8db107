import { Global, Module } from '@nestjs/common';
import { DatabaseModule } from './database.module';
import { ClockWatch } from './clock-watch';
import { JobLease, JobLeases } from './job-leases';
import { JobRunner } from './job-runner';
import { JobLeases1763600000011 } from './migrations/1763600000011-job-leases';

/** Recurring work that one process does at a time. */
@Global()
@Module({
  imports: [DatabaseModule.forFeature([JobLease], [JobLeases1763600000011])],
  providers: [ClockWatch, JobLeases, JobRunner],
  exports: [JobLeases, JobRunner],
})
export class JobsModule {}
