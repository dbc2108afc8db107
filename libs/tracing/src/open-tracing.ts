import type { Config } from '@app/kernel';
import { version } from '@app/kernel';
import { randomUUID } from 'node:crypto';
import { OpenSpans } from './open-spans';
import { OpenTelemetryTracing } from './open-telemetry.tracing';
import { type SpanObserver, SpanQueue, SPANS_MAX } from './span-queue';
import { NO_TRACING, Tracing } from './tracing';

/** The time for one call to the collector with its repetitions, in milliseconds. */
const SEND_MAX_MS = 5_000;
const BATCH_SPANS = 512;
const BATCH_PAUSE_MS = 500;

type Settings = Pick<
  Config,
  'tracesEndpoint' | 'tracesHeaders' | 'tracesService' | 'tracesSampler' | 'tracesSampled' | 'tracesDisabled'
>;

/** The traces that the settings ask for. The packages of OpenTelemetry are loaded only for a collector. */
export async function openTracing(settings: Settings, observer: SpanObserver): Promise<Tracing> {
  const { tracesEndpoint: endpoint, tracesDisabled, tracesSampler } = settings;
  if (endpoint === undefined || tracesDisabled || tracesSampler.endsWith('always_off')) return NO_TRACING;
  const packages = await loaded();
  return withoutVariables(() =>
    recording(`${endpoint}/v1/traces`, settings, new SpanQueue(observer), packages),
  );
}

const loaded = () =>
  Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace-base'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);

function recording(
  url: string,
  { tracesHeaders, tracesSampler, tracesSampled, tracesService }: Settings,
  queue: SpanQueue,
  [api, sdk, { OTLPTraceExporter }, { resourceFromAttributes }]: Awaited<ReturnType<typeof loaded>>,
): Tracing {
  const exporter = new OTLPTraceExporter({
    url,
    headers: { ...tracesHeaders },
    timeoutMillis: SEND_MAX_MS,
  });
  const batches = new sdk.BatchSpanProcessor(queue.sending(exporter), {
    maxQueueSize: SPANS_MAX,
    maxExportBatchSize: BATCH_SPANS,
    scheduledDelayMillis: BATCH_PAUSE_MS,
    exportTimeoutMillis: SEND_MAX_MS + 1_000,
  });
  const open = new OpenSpans();
  const part = tracesSampler.endsWith('traceidratio') ? tracesSampled : 1;
  const provider = new sdk.BasicTracerProvider({
    resource: resourceFromAttributes({
      'service.name': tracesService,
      'service.version': version(),
      'service.instance.id': randomUUID(),
    }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(part) }),
    spanProcessors: [open, queue.before(batches)],
  });
  return new OpenTelemetryTracing({
    tracer: provider.getTracer('lethe', version()),
    root: api.ROOT_CONTEXT,
    open,
    inside: (parent) => api.trace.setSpan(api.ROOT_CONTEXT, parent),
    shutdown: () => provider.shutdown(),
  });
}

/**
 * The packages add what the environment has for all programs of a machine to their options: headers, compression, limits.
 * They read it only while `make` runs, and nothing else does then.
 */
function withoutVariables<T>(make: () => T): T {
  const hidden = Object.entries(process.env).filter(([name]) => name.startsWith('OTEL_'));
  for (const [name] of hidden) delete process.env[name];
  try {
    return make();
  } finally {
    Object.assign(process.env, Object.fromEntries(hidden));
  }
}
