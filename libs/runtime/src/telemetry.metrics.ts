import type { Attributes, HrTime } from '@opentelemetry/api';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import { emptyResource } from '@opentelemetry/resources';
import type { PrometheusMetrics } from '@app/kernel';

type Sample = Awaited<ReturnType<PrometheusMetrics['samples']>>[number];
type Value = Sample['values'][number] & { readonly metricName?: string };

/** A time in milliseconds since 1970 as seconds and nanoseconds. */
export function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.floor((ms - seconds * 1000) * 1e6)];
}

/**
 * The metrics of /metrics for OpenTelemetry: the same names, labels and numbers, read at each export. Counters and
 * histograms count from the start of the process.
 */
export function metricsProducer(metrics: PrometheusMetrics): MetricProducer {
  const startTime = hrTime(performance.timeOrigin);
  return {
    collect: async () => {
      const samples = await metrics.samples();
      const times = { startTime, endTime: hrTime(Date.now()) };
      const found = samples.map((sample) => metricData(sample, times));
      const scopeMetrics = [
        { scope: { name: 'lethe' }, metrics: found.filter(({ dataPoints }) => dataPoints.length > 0) },
      ];
      return { resourceMetrics: { resource: emptyResource(), scopeMetrics }, errors: [] };
    },
  };
}

type Times = Pick<DataPoint<never>, 'startTime' | 'endTime'>;

function metricData(sample: Sample, times: Times): MetricData {
  const base = {
    descriptor: { name: sample.name, description: sample.help, unit: '', valueType: 1 },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  // The types of prom-client say a number, which it does not give.
  const type = String(sample.type);
  if (type === 'histogram')
    return { ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints: histograms(sample, times) };
  const dataPoints = sample.values
    .filter(({ value }) => Number.isFinite(value))
    .map(({ value, labels }) => ({ ...times, attributes: attributesOf(labels), value }));
  return type === 'counter'
    ? { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...base, dataPointType: DataPointType.GAUGE, dataPoints };
}

/** One point for each set of labels. Prometheus counts a value in every bucket above it, OpenTelemetry in one. */
function histograms({ name, values }: Sample, times: Times): DataPoint<Histogram>[] {
  const points = new Map<string, Value[]>();
  for (const each of values as readonly Value[]) {
    const key = JSON.stringify(attributesOf(each.labels));
    points.set(key, [...(points.get(key) ?? []), each]);
  }
  return [...points].map(([key, own]) => {
    const totalOf = (part: string): number =>
      own.find(({ metricName }) => metricName === `${name}_${part}`)?.value ?? 0;
    const count = totalOf('count');
    const buckets = own.filter(({ labels }) => typeof labels['le'] === 'number');
    const below = [0, ...buckets.map(({ value }) => value), count];
    const counts = below.slice(1).map((value, at) => value - (below[at] ?? 0));
    const boundaries = buckets.map(({ labels }) => Number(labels['le']));
    const value = { buckets: { boundaries, counts }, count, sum: totalOf('sum') };
    return { ...times, attributes: JSON.parse(key) as Attributes, value };
  });
}

/** The labels as texts, but the bound of a bucket. */
function attributesOf(labels: Value['labels']): Attributes {
  return Object.fromEntries(
    Object.entries(labels).flatMap(([name, value]) => (name === 'le' ? [] : [[name, String(value)]])),
  );
}
