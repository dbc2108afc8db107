import { PrometheusMetrics } from '@app/kernel';
import { DataPointType } from '@opentelemetry/sdk-metrics';
import { metricsProducer } from './telemetry.metrics';

describe('metricsProducer', () => {
  async function produced(metrics: PrometheusMetrics, wanted: string) {
    const { resourceMetrics } = await metricsProducer(metrics).collect();
    return resourceMetrics.scopeMetrics[0]?.metrics.find(({ descriptor }) => descriptor.name === wanted);
  }

  it('keeps names, labels and numbers of counters and gauges', async () => {
    const metrics = new PrometheusMetrics();
    metrics.answered('GET', '/x', 200, 1);
    metrics.answered('GET', '/x', 200, 1);
    metrics.gauge('up', () => 1);
    expect(await produced(metrics, 'lethe_http_requests_total')).toMatchObject({
      dataPointType: DataPointType.SUM,
      isMonotonic: true,
      dataPoints: [{ value: 2, attributes: { method: 'GET', route: '/x', status: '200' } }],
    });
    expect(await produced(metrics, 'lethe_up')).toMatchObject({
      dataPointType: DataPointType.GAUGE,
      dataPoints: [{ value: 1, attributes: {} }],
    });
  });

  it('counts each value of a histogram in one bucket, and what is above all bounds in the last', async () => {
    const metrics = new PrometheusMetrics();
    for (const units of [1, 1, 3, 256, 1000]) metrics.observe('databaseCommitUnits', units);
    expect((await produced(metrics, 'lethe_database_commit_units'))?.dataPoints[0]?.value).toEqual({
      buckets: {
        boundaries: [1, 2, 4, 8, 16, 32, 64, 128, 256],
        counts: [2, 0, 1, 0, 0, 0, 0, 0, 1, 1],
      },
      count: 5,
      sum: 1261,
    });
  });

  it('leaves out a gauge that cannot be read', async () => {
    const metrics = new PrometheusMetrics();
    metrics.gauge('up', () => Promise.reject(new Error('planted')));
    expect(await produced(metrics, 'lethe_up')).toBeUndefined();
    expect(await produced(metrics, 'lethe_metrics_failures_total')).toBeDefined();
  });
});
