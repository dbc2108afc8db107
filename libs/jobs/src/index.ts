export { type Batches, type BotSweep, inBatches, sweepBots } from './bot-sweep';
export { ClockWatch } from './clock-watch';
export { JobLease, JobLeases, Lease, LEASE_MS, LeaseLost } from './job-leases';
export { type Job, JobRunner, PeriodicJob, PeriodicJobs } from './job-runner';
export { JobsModule } from './jobs.module';
