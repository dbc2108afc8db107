import { Controller, Get } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '@app/http';
import { Health } from '@app/runtime';

/** Probes for process managers, outside the prefix and the rate limits. */
@ApiExcludeController()
@Public()
@Controller('health')
export class HealthController {
  constructor(private readonly health: Health) {}

  @Get('live')
  live(): { status: string } {
    return this.health.live();
  }

  @Get('ready')
  ready(): ReturnType<Health['ready']> {
    return this.health.ready();
  }
}
