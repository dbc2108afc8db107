import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { UnitOfWork } from '@app/database';
import { ApiError, Degradations, inTime, type LabelOf, METRICS, Metrics } from '@app/kernel';

/** The health of the process for probes and metrics, the same in every kind of process. */
@Injectable()
export class Health implements OnApplicationBootstrap {
  /** Whether the start has ended and no shutdown has begun. */
  isServing = false;
  /** How long a probe waits for the database. */
  answerMaxMs = 2_000;
  /** The question that is under way: probes of a database that hangs share it. */
  private asked: Promise<void> | undefined;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly degradations: Degradations,
    private readonly metrics: Metrics,
  ) {}

  onApplicationBootstrap(): void {
    this.metrics.gauge('up', () => Number(this.isServing));
    this.metrics.gauge('degraded', () => {
      const { current } = this.degradations;
      const { values } = METRICS.degraded.label;
      const holding = values.map((name) => [name, Number(current.includes(name))] as const);
      const named = Object.fromEntries(holding) as Record<LabelOf<'degraded'>, number>;
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
    if (!this.isServing)
      throw new ApiError('service_unavailable', 'The service is starting or shutting down');
    await this.answered();
    const { current: conditions } = this.degradations;
    return conditions.length === 0 ? { status: 'ok' } : { status: 'degraded', conditions };
  }

  /** @throws ApiError 503 when the database does not answer in time */
  private async answered(): Promise<void> {
    this.asked ??= this.unitOfWork.ping().finally(() => (this.asked = undefined));
    await inTime(this.asked, this.answerMaxMs, () => {
      throw new ApiError('service_unavailable', 'The database does not answer');
    });
  }
}
