import { Global, Module } from '@nestjs/common';
import { DatabaseModule } from '@app/database';
import { JobLease } from './job-lease.entity';
import { JobLeases } from './job-leases';
import { JobRunner } from './job-runner';

/** Work that recurs, and that one process does at a time. */
@Global()
@Module({
  imports: [DatabaseModule.forFeature([JobLease])],
  providers: [JobLeases, JobRunner],
  exports: [JobLeases, JobRunner],
})
export class JobsModule {}
