import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DATABASE_DAMAGED, UnitOfWork } from '@app/database';
import { ApiError, Degradations } from '@app/kernel';
import { RATE_LIMIT_LOCAL } from '@app/limits';
import { Metrics } from '@app/metrics';
import { Readiness } from './readiness';

/** The health of the process for probes and metrics, the same in every kind of process. */
@Injectable()
export class Health implements OnApplicationBootstrap {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly readiness: Readiness,
    private readonly degradations: Degradations,
    private readonly metrics: Metrics,
  ) {}

  onApplicationBootstrap(): void {
    this.metrics.gauge('up', () => Number(this.readiness.ready));
    this.metrics.gauge('degraded', () => {
      const { current } = this.degradations;
      return {
        rate_limit_local: Number(current.includes(RATE_LIMIT_LOCAL)),
        database_damaged: Number(current.includes(DATABASE_DAMAGED)),
        other: Number(current.some((name) => name !== RATE_LIMIT_LOCAL && name !== DATABASE_DAMAGED)),
      };
    });
  }

  /** The process answers. */
  live(): { status: string } {
    return { status: 'ok' };
  }

  /**
   * Whether the process can work: its database answers and no shutdown has begun. A degraded process is ready.
   * @throws ApiError 503 when it is not ready.
   */
  async ready(): Promise<{ status: string }> {
    if (!this.readiness.ready)
      throw new ApiError('service_unavailable', 'The service is starting or shutting down');
    await this.unitOfWork.ping();
    return { status: this.degradations.current.length === 0 ? 'ok' : 'degraded' };
  }
}
