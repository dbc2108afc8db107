import { createLogger, PrometheusMetrics, readConfig, Spans } from '@app/kernel';
import type { INestApplicationContext } from '@nestjs/common';
import { useCollector } from '../../../test/support/collector';
import { beginTelemetry } from './telemetry';

// What a process sends at its end, without the short limit that it has there.

const NO_LIMIT_MS = 600_000;
const collector = useCollector();

describe('the end of telemetry', () => {
  it('sends the metrics and the spans that are left', async () => {
    // Of the SDK, which reads it from the environment.
    process.env['OTEL_EXPORTER_OTLP_TIMEOUT'] = String(NO_LIMIT_MS);
    const config = readConfig({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.the.url,
      OTEL_METRIC_EXPORT_INTERVAL: '3600000',
    });
    const [spans, metrics] = [new Spans(), new PrometheusMetrics()];
    const nest = { get: (token: unknown) => (token === Spans ? spans : metrics) };
    const telemetry = beginTelemetry(
      config,
      nest as unknown as INestApplicationContext,
      createLogger('silent'),
      NO_LIMIT_MS,
    );
    metrics.answered('GET', '/x', 200, 1);
    spans.receive?.({ name: 'GET /x', kind: 'server', tookMs: 1, attributes: {} });
    await telemetry.endMetrics();
    expect(JSON.stringify(collector.the.metrics)).toContain('/x');
    await telemetry.endSpans();
    expect(collector.the.spans.map(({ name }) => name)).toEqual(['GET /x']);
  });
});
