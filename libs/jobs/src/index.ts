export { type Batches, type BotSweep, inBatches, sweepBots } from './bot-sweep';
export { ClockWatch } from './clock-watch';
export { JobLease } from './job-lease.entity';
export { JobLeases, Lease, LEASE_MS, LeaseLost } from './job-leases';
export { type Job, JobRunner } from './job-runner';
export { JobsModule } from './jobs.module';
export { PeriodicJob, PeriodicJobs } from './periodic-jobs';
