import { Controller, Get } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { ApiError, Degradations, Public } from '@app/common';
import { UnitOfWork } from '@app/database';
import { Readiness } from './readiness';

/** Probes for whatever keeps the process running; outside the prefix, uncounted by the limiter. */
@ApiExcludeController()
@Public()
@Controller('health')
export class HealthController {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly readiness: Readiness,
    private readonly degradations: Degradations,
  ) {}

  /** The process answers. */
  @Get('live')
  live(): { status: string } {
    return { status: 'ok' };
  }

  /** The process takes requests: its database answers and it is not shutting down. Degraded, it takes them all the same. */
  @Get('ready')
  async ready(): Promise<{ status: string }> {
    if (!this.readiness.ready)
      throw new ApiError('service_unavailable', 'The service is starting or shutting down');
    await this.unitOfWork.ping();
    return { status: this.degradations.current.length === 0 ? 'ok' : 'degraded' };
  }
}
