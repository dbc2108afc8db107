import type { Type } from '@nestjs/common';
import { type Job, JobRunner } from '@app/jobs';
import type { Service } from './service';

/** The end of the run that the start of a service may have begun. */
export function ranAtStart({ app }: Pick<Service, 'app'>, job: Type<Job>): Promise<void> {
  return app.get(JobRunner).run(app.get(job, { strict: false }));
}

/** One run of a job, due or not, unless another process has it. */
export function runNow({ app }: Pick<Service, 'app'>, job: Type<Job>): Promise<void> {
  return app.get(JobRunner).run(app.get(job, { strict: false }), 'now');
}

/** A run of a job that begins after the call: `runNow` joins one that is under way. */
export async function runAnew(service: Pick<Service, 'app'>, job: Type<Job>): Promise<void> {
  for (let runs = 0; runs < 2; runs++) await runNow(service, job);
}
