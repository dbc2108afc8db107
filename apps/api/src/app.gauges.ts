import type { NestExpressApplication } from '@nestjs/platform-express';
import type { LetheHttpAdapter } from '@app/http';
import { Metrics } from '@app/metrics';

/** Reports the number of open connections of the process. */
export function registerAppGauges(app: NestExpressApplication): void {
  const adapter = app.getHttpAdapter() as unknown as LetheHttpAdapter;
  app.get(Metrics).gauge('httpConnections', () => adapter.connections);
}
