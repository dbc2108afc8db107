import { HttpMeter } from './http.meter';
import { type MetricDefinition, METRICS } from './metric.definitions';
import { type Counted, type CounterName, type GaugeName, type HistogramName, Metrics } from './metrics';
import { readProcess } from './process.readings';
import { HttpDurations, HttpRequests } from './prometheus.http';
import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { OwnError, describeFault } from '@app/kernel';

type Collect = () => unknown;

/**
 * {@link Metrics} in the registry of this application, in Prometheus's text format. A gauge is read at each exposition.
 * A gauge that cannot be read is left out and counted, and the others are still answered.
 */
@Injectable()
export class PrometheusMetrics extends Metrics implements OnApplicationShutdown {
  /** Counts answers; the HTTP adapter feeds it. */
  readonly http = new HttpMeter();
  /** The time limit of one reading, in milliseconds. The exposition leaves out a slower reading. */
  readingMaxMs = 2_000;
  private readonly logger = new Logger('Metrics');
  private readonly registry = new Registry();
  private readonly counters = new Map<string, Counter>();
  private readonly histograms = new Map<string, Histogram>();
  private readonly collectors = new Map<GaugeName, Collect>();
  private readonly endReadings: () => void;
  private reading: Promise<string> | undefined;

  constructor() {
    super();
    const registers = [this.registry];
    const { httpRequests, httpDuration, cpu, ...fed } = METRICS;
    this.registry.registerMetric(new HttpRequests(this.http, httpRequests));
    this.registry.registerMetric(new HttpDurations(this.http, httpDuration));
    const addUp = function (this: Counter): void {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    };
    this.registry.registerMetric(new Counter({ ...named(cpu), registers: [], collect: addUp }));
    for (const [key, definition] of Object.entries<MetricDefinition>(fed)) {
      if (definition.type === 'counter') this.counters.set(key, counter(definition, registers));
      if (definition.type === 'histogram')
        this.histograms.set(
          key,
          new Histogram({ ...named(definition), buckets: [...(definition.buckets ?? [])], registers }),
        );
    }
    this.endReadings = readProcess(this);
  }

  count<N extends CounterName>(name: N, ...counted: Counted<N>): void {
    const { label }: MetricDefinition = METRICS[name];
    const [first, second]: readonly (string | number | undefined)[] = counted;
    const times = Number((label === undefined ? first : second) ?? 1);
    if (label === undefined) this.counters.get(name)?.inc(times);
    else if (label.values.includes(String(first)))
      this.counters.get(name)?.inc({ [label.name]: String(first) }, times);
  }

  observe(name: HistogramName, value: number): void {
    if (Number.isFinite(value)) this.histograms.get(name)?.observe(value);
  }

  gauge(name: GaugeName, collect: Collect): void {
    if (!this.collectors.has(name)) this.addGauge(name);
    this.collectors.set(name, collect);
  }

  /** The answer to a scrape. Simultaneous scrapes share one. */
  exposition(): Promise<string> {
    this.reading ??= this.registry.metrics().finally(() => (this.reading = undefined));
    return this.reading;
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  onApplicationShutdown(): void {
    this.endReadings();
  }

  private addGauge(name: GaugeName): void {
    const definition: MetricDefinition = METRICS[name];
    const gauge: Gauge = new Gauge({
      ...named(definition),
      registers: [this.registry],
      collect: async () => {
        try {
          set(gauge, definition, await inTime(this.collectors.get(name), this.readingMaxMs));
        } catch (error) {
          this.logger.warn(
            `The metric ${definition.name} could not be read and is missing in this answer of /metrics`,
            { metric: definition.name, ...describeFault(error) },
          );
          this.count('gaugeFailures');
          clear(gauge, definition);
        }
      },
    });
    clear(gauge, definition);
  }
}

/** A definition in the form of prom-client. */
export function named({ name, help, label, labels }: MetricDefinition) {
  return { name, help, labelNames: [...(labels ?? []), ...(label === undefined ? [] : [label.name])] };
}

/** A counter that begins with 0 for every value of its label, so that the first event is visible as a rise. */
function counter(definition: MetricDefinition, registers: Registry[]): Counter {
  const { label } = definition;
  const made = new Counter({ ...named(definition), registers });
  for (const value of label?.values ?? []) made.inc({ [label?.name ?? '']: value }, 0);
  return made;
}

function set(gauge: Gauge, { label }: MetricDefinition, reading: unknown): void {
  if (label === undefined) return gauge.set(reading as number);
  for (const value of label.values)
    gauge.set({ [label.name]: value }, (reading as Record<string, number>)[value] ?? 0);
}

/** Removes every sample, so that the gauge has no value instead of 0. */
function clear(gauge: Gauge, { label }: MetricDefinition): void {
  if (label === undefined) gauge.remove({});
  else gauge.reset();
}

async function inTime(collect: Collect | undefined, maxMs: number): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new OwnError('A number was not read in time')), maxMs);
  });
  try {
    return await Promise.race([collect?.(), late]);
  } finally {
    clearTimeout(timer);
  }
}
