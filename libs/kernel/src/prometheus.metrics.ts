import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { describeFault } from './logger';
import { OwnError } from './errors';
import { inTime } from './in-time';
import { type MetricDefinition, METRICS } from './metric.definitions';
import {
  type Counted,
  type CounterName,
  type GaugeName,
  type HistogramName,
  Metrics,
  type Reading,
} from './metrics';

/** The label of requests that match no route, so that invented paths create no series. */
const UNKNOWN_ROUTE = 'unknown';
const OTHER_METHOD = 'OTHER';
const HTTP_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'];
/** The interval between two measurements of the event loop, in milliseconds. */
const RESOLUTION_MS = 10;
/** Readings within this time, in milliseconds, share one result. */
const WINDOW_MS = 10_000;

interface AnswerSeries {
  readonly requests: Counter.Internal;
  readonly durations: Histogram.Internal<string>;
}

/**
 * {@link Metrics} in the registry of this application, in Prometheus's text format. A gauge is read at each exposition.
 * A gauge that cannot be read is left out and counted, and the others are still answered.
 */
@Injectable()
export class PrometheusMetrics extends Metrics implements OnApplicationShutdown {
  /** The time limit of one reading, in milliseconds. The exposition leaves out a slower reading. */
  readingMaxMs = 2_000;
  private readonly logger = new Logger('Metrics');
  private readonly registry = new Registry();
  private readonly counters = new Map<string, Counter>();
  private readonly histograms = new Map<string, Histogram>();
  private readonly httpRequests: Counter;
  private readonly httpDuration: Histogram;
  /** What counts each kind of answer, bound to its labels: to check and bind them for each answer takes longer. */
  private readonly answers = new Map<string, AnswerSeries>();
  private readonly loopDelay = new EventLoopDelay();
  private reading: Promise<string> | undefined;

  constructor() {
    super();
    const registers = [this.registry];
    const { httpRequests, httpDuration, cpu, ...fed } = METRICS;
    this.httpRequests = counter(httpRequests, registers);
    this.httpDuration = histogram(httpDuration, registers);
    for (const [key, definition] of Object.entries<MetricDefinition>(fed)) {
      if (definition.type === 'counter') this.counters.set(key, counter(definition, registers));
      if (definition.type === 'histogram') this.histograms.set(key, histogram(definition, registers));
    }
    new Counter({
      ...named(cpu),
      registers,
      collect() {
        const { user, system } = process.cpuUsage();
        this.reset();
        this.inc((user + system) / 1e6);
      },
    });
    // prom-client's own metrics of a process are not used: they disclose versions and list every open handle.
    this.gauge('eventLoopDelay', () => this.loopDelay.read());
    this.gauge('residentMemory', () => process.memoryUsage.rss());
    this.gauge('heapUsed', () => process.memoryUsage().heapUsed);
    this.gauge('externalMemory', () => process.memoryUsage().external);
    this.gauge('startTime', () => performance.timeOrigin / 1000);
  }

  /** Counts an answer by its method, its declared route and its status, never by a path. */
  answered(method: string, declared: string | undefined, status: number, durationMs: number): void {
    const route = declared ?? UNKNOWN_ROUTE;
    const key = `${method} ${status} ${route}`;
    let series = this.answers.get(key);
    if (series === undefined) {
      const labels = { method: HTTP_METHODS.includes(method) ? method : OTHER_METHOD, route };
      const requests = this.httpRequests.labels({ ...labels, status });
      series = { requests, durations: this.httpDuration.labels(labels) };
      this.answers.set(key, series);
    }
    series.requests.inc();
    series.durations.observe(durationMs / 1000);
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

  gauge(name: GaugeName, read: () => unknown): void {
    const definition: MetricDefinition = METRICS[name];
    this.registry.removeSingleMetric(definition.name);
    const gauge: Gauge = new Gauge({
      ...named(definition),
      registers: [this.registry],
      collect: async () => {
        try {
          set(gauge, definition, await inTime(Promise.resolve().then(read), this.readingMaxMs, notInTime));
        } catch (error) {
          this.logger.warn(
            `The metric ${definition.name} could not be read: /metrics, or an export of OpenTelemetry, is without it`,
            { metric: definition.name, ...describeFault(error) },
          );
          this.count('gaugeFailures');
          clear(gauge, definition);
        }
      },
    });
    clear(gauge, definition);
  }

  /** The answer to a scrape. Simultaneous scrapes share one. */
  exposition(): Promise<string> {
    this.reading ??= this.registry.metrics().finally(() => (this.reading = undefined));
    return this.reading;
  }

  /** Every number of an exposition, for another format. */
  samples(): ReturnType<Registry['getMetricsAsJSON']> {
    return this.registry.getMetricsAsJSON();
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  onApplicationShutdown(): void {
    this.loopDelay.end();
  }
}

/** A definition in the form of prom-client. */
function named({ name, help, label, labels }: MetricDefinition) {
  return { name, help, labelNames: [...(labels ?? []), ...(label === undefined ? [] : [label.name])] };
}

/** A counter that begins with 0 for every value of its label, so that the first event is visible as a rise. */
function counter(definition: MetricDefinition, registers: Registry[]): Counter {
  const { label } = definition;
  const made = new Counter({ ...named(definition), registers });
  for (const value of label?.values ?? []) made.inc({ [label?.name ?? '']: value }, 0);
  return made;
}

function histogram(definition: MetricDefinition, registers: Registry[]): Histogram {
  return new Histogram({ ...named(definition), buckets: [...(definition.buckets ?? [])], registers });
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

function notInTime(): never {
  throw new OwnError('A number was not read in time');
}

/** The delay of the event loop since the previous reading. Measurement begins with the first reading. */
export class EventLoopDelay {
  private windowBegunMs: number | undefined;
  private last: Reading<'eventLoopDelay'> | undefined;

  constructor(
    private readonly histogram: Pick<
      IntervalHistogram,
      'enable' | 'disable' | 'reset' | 'percentile' | 'max'
    > = monitorEventLoopDelay({ resolution: RESOLUTION_MS }),
  ) {}

  read(nowMs = performance.now()): Reading<'eventLoopDelay'> {
    if (this.windowBegunMs === undefined) {
      this.histogram.enable();
      this.windowBegunMs = nowMs;
    }
    if (nowMs - this.windowBegunMs >= WINDOW_MS) {
      this.last = this.present();
      this.histogram.reset();
      this.windowBegunMs = nowMs;
    }
    return this.last ?? this.present();
  }

  end(): void {
    this.histogram.disable();
  }

  private present(): Reading<'eventLoopDelay'> {
    const { histogram } = this;
    return {
      p50: lateness(histogram.percentile(50)),
      p99: lateness(histogram.percentile(99)),
      max: lateness(histogram.max),
    };
  }
}

/** The measured time is the interval between two timers, so a loop without delay measures the resolution. */
function lateness(nanoseconds: number): number {
  return Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1e3);
}
