import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DATABASE_DAMAGED, UnitOfWork } from '@app/database';
import { ApiError, Degradations, STANDBY_AWAY } from '@app/kernel';
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
      const holds = (condition: string): number => Number(this.degradations.has(condition));
      const named = {
        rate_limit_local: holds('rate_limit_local'),
        disk_low: holds('disk_low'),
        clock_step: holds('clock_step'),
        [STANDBY_AWAY]: holds(STANDBY_AWAY),
        [DATABASE_DAMAGED]: holds(DATABASE_DAMAGED),
      };
      return { ...named, other: Number(current.some((condition) => !Object.hasOwn(named, condition))) };
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
  async ready(): Promise<{ status: string; conditions?: readonly string[] }> {
    if (!this.readiness.ready)
      throw new ApiError('service_unavailable', 'The service is starting or shutting down');
    await this.unitOfWork.ping();
    const { current: conditions } = this.degradations;
    return conditions.length === 0 ? { status: 'ok' } : { status: 'degraded', conditions };
  }
}
