export { botByBot, nextBotBy } from './bot-by-bot';
export { ClockWatch } from './clock-watch';
export { JobLease } from './job-lease.entity';
export { JobLeases, Lease, LEASE_MS, LeaseLost } from './job-leases';
export { type Job, JobRunner } from './job-runner';
export { JobsModule } from './jobs.module';
export { PeriodicJob, PeriodicJobs } from './periodic-jobs';
