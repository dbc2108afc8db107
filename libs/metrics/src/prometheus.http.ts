import { Counter, Histogram } from 'prom-client';
import type { HttpMeter, RouteTimes } from './http.meter';
import type { MetricDefinition } from './metric.definitions';

const labelNames = ({ labels = [] }: MetricDefinition): string[] => [...labels];

/** The answers that an {@link HttpMeter} has counted, with labels. */
export class HttpRequests extends Counter {
  constructor(meter: HttpMeter, definition: MetricDefinition) {
    super({
      name: definition.name,
      help: definition.help,
      labelNames: labelNames(definition),
      registers: [],
      collect() {
        this.reset();
        for (const { method, route, statuses } of meter.all())
          for (const [status, { answers }] of statuses) this.inc({ method, route, status }, answers);
      },
    });
  }
}

type Exposed = ReturnType<Histogram['get']>;

/** The durations that an {@link HttpMeter} has counted, as a histogram. prom-client has no way to set whole buckets. */
export class HttpDurations extends Histogram {
  /** Supplies the description of a histogram without samples. */
  private readonly empty: Histogram;

  constructor(
    private readonly meter: HttpMeter,
    private readonly definition: MetricDefinition,
  ) {
    const { name, help, buckets = [] } = definition;
    const options = { name, help, labelNames: labelNames(definition), buckets: [...buckets], registers: [] };
    super(options);
    this.empty = new Histogram(options);
  }

  override async get(): Exposed {
    const values = this.meter.all().flatMap((times) => this.samplesOf(times));
    return { ...(await this.empty.get()), values };
  }

  /** The method by which the registry gets the text of a metric. */
  getForPromString(): Exposed {
    return this.get();
  }

  private samplesOf({ method, route, buckets, sumMs }: RouteTimes): Awaited<Exposed>['values'] {
    const { name, buckets: bounds = [] } = this.definition;
    const sample = (suffix: string, value: number, labels: Record<string, string | number> = {}) => ({
      metricName: `${name}_${suffix}`,
      labels: { method, route, ...labels },
      value,
    });
    let atMost = 0;
    const cumulative = buckets.map((times, at) => {
      atMost += times;
      return sample('bucket', atMost, { le: bounds[at] ?? '+Inf' });
    });
    return [...cumulative, sample('sum', sumMs / 1000), sample('count', atMost)];
  }
}
