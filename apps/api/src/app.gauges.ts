import type { NestExpressApplication } from '@nestjs/platform-express';
import { Degradations, type LetheHttpAdapter, Metrics, RATE_LIMIT_LOCAL } from '@app/common';
import { Readiness } from './readiness';

/** Tells of the process what its probes tell, and how many connections it holds. */
export function registerAppGauges(app: NestExpressApplication): void {
  const metrics = app.get(Metrics);
  const readiness = app.get(Readiness);
  const degradations = app.get(Degradations);
  const adapter = app.getHttpAdapter() as unknown as LetheHttpAdapter;
  metrics.gauge('up', () => Number(readiness.ready));
  metrics.gauge('httpConnections', () => adapter.connections);
  metrics.gauge('degraded', () => {
    const { current } = degradations;
    return {
      rate_limit_local: Number(current.includes(RATE_LIMIT_LOCAL)),
      other: Number(current.some((condition) => condition !== RATE_LIMIT_LOCAL)),
    };
  });
}
