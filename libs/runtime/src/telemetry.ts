import { randomUUID } from 'node:crypto';
import {
  type Context,
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import {
  type ExportResult,
  ExportResultCode,
  parseTraceParent,
  setGlobalErrorHandler,
} from '@opentelemetry/core';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import {
  type Config,
  describeFault,
  type EndedSpan,
  inTime,
  PrometheusMetrics,
  Spans,
  version,
} from '@app/kernel';
import type { INestApplicationContext } from '@nestjs/common';
import type { Logger } from 'pino';
import { hrTime, metricsProducer } from './telemetry.metrics';

// Loaded only where an endpoint is set: the modules of the SDK are loaded with this file.

/** The longest wait for a collector at each of the two steps of the end, in milliseconds. */
const END_MAX_MS = 1_500;
/** Exports under way at the same time: at the end the four batches of a full queue, beside one. Beyond it a batch is dropped. */
const CONCURRENCY = 5;

type TelemetrySettings = Pick<
  Config,
  'otlpEndpoint' | 'otlpHeaders' | 'otelServiceName' | 'otelMetricIntervalMs'
>;

/** What a process sends to a collector. The end of the process takes both steps. */
export interface Telemetry {
  /** Sends the metrics a last time: while they can be read. Resolves within {@link END_MAX_MS}, and never rejects. */
  endMetrics(): Promise<void>;
  /** Sends the spans that are left, also those of the end. Resolves within {@link END_MAX_MS}, and never rejects. */
  endSpans(): Promise<void>;
}

/**
 * Begins to send spans and metrics to the collector of `config` by OTLP. Spans wait in a queue of the SDK, which drops
 * what it has no room for; a collector that is slow or away delays no request. The log says once that it takes nothing,
 * and once that it does again. No context is kept for asynchronous calls (decision 154).
 */
export function beginTelemetry(
  config: TelemetrySettings,
  nest: INestApplicationContext,
  logger: Logger,
  endMaxMs = END_MAX_MS,
): Telemetry {
  tellSdk(config, logger);
  const options = { concurrencyLimit: CONCURRENCY };
  const resource = defaultResource()
    .merge(
      resourceFromAttributes({
        'service.name': 'lethe',
        'service.version': version(),
        // Without it the counts of two processes are taken for one.
        'service.instance.id': randomUUID(),
      }),
    )
    .merge(detectResources({ detectors: [envDetector] }));
  const spans = watched(new OTLPTraceExporter(options), 'traces', logger);
  const provider = new BasicTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(spans)] });
  const reader = new PeriodicExportingMetricReader({
    exporter: watched(new OTLPMetricExporter(options), 'metrics', logger),
    exportIntervalMillis: config.otelMetricIntervalMs,
    exportTimeoutMillis: Math.min(config.otelMetricIntervalMs, 30_000),
    metricProducers: [metricsProducer(nest.get(PrometheusMetrics))],
  });
  const meters = new MeterProvider({ resource, readers: [reader] });
  diag.disable();
  const tracer = provider.getTracer('lethe', version());
  nest.get(Spans).receive = (span) => record(tracer, span);
  return {
    endMetrics: () => ended(meters.shutdown(), endMaxMs),
    endSpans: () => ended(provider.shutdown(), endMaxMs),
  };
}

/** The SDK reads its variables from the environment alone, and those of Lethe can be lines of `.env`. */
function tellSdk({ otlpEndpoint, otlpHeaders, otelServiceName }: TelemetrySettings, logger: Logger): void {
  const given = {
    OTEL_EXPORTER_OTLP_ENDPOINT: otlpEndpoint,
    OTEL_EXPORTER_OTLP_HEADERS: otlpHeaders,
    OTEL_SERVICE_NAME: otelServiceName,
  };
  for (const [name, value] of Object.entries(given)) if (value) process.env[name] = value;
  // What it says of its variables while it is made. Later it says each failure again; `watched` says the first.
  const say = (message: string): void => logger.warn({ context: 'Telemetry' }, message);
  const silent = (): void => undefined;
  diag.setLogger(
    { error: say, warn: say, info: silent, debug: silent, verbose: silent },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  setGlobalErrorHandler(silent);
}

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;

function record(tracer: Tracer, { name, kind, tookMs, attributes, parent }: EndedSpan): void {
  const endMs = Date.now();
  const options = { kind: KINDS[kind], attributes, startTime: hrTime(endMs - tookMs) };
  const span = tracer.startSpan(name, options, contextOf(parent));
  if ('error.type' in attributes) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end(hrTime(endMs));
}

/** Of the caller's context only the parent is taken: `tracestate` and baggage are texts of the caller. */
function contextOf(traceparent: string | undefined): Context {
  const parent = traceparent === undefined ? null : parseTraceParent(traceparent);
  return parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true });
}

interface Exporter<Items> {
  export(items: Items, done: (result: ExportResult) => void): void;
}

/** The same exporter, whose first failure in a row is a line of the log, as is the next success. */
function watched<Items, Kind extends Exporter<Items>>(exporter: Kind, what: string, logger: Logger): Kind {
  const send = exporter.export.bind(exporter);
  let isFailing = false;
  exporter.export = (items, done) =>
    send(items, (result) => {
      const fails = result.code === ExportResultCode.FAILED;
      if (fails !== isFailing)
        logger.warn(
          { context: 'Telemetry', ...(fails && describeFault(result.error)) },
          fails
            ? `The collector of OTEL_EXPORTER_OTLP_ENDPOINT takes no ${what}: they are dropped; later failures in a row are not logged`
            : `The collector of OTEL_EXPORTER_OTLP_ENDPOINT takes ${what} again`,
        );
      isFailing = fails;
      done(result);
    });
  return exporter;
}

/** Resolves when `work` has ended, in whatever way, or is late. */
function ended(work: Promise<void>, maxMs: number): Promise<void> {
  const nothing = (): void => undefined;
  return inTime(work.catch(nothing), maxMs, nothing);
}
