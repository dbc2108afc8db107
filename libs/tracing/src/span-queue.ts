import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace-base';

/** Spans that wait for the collector, those under way included. Further ones are lost. */
export const SPANS_MAX = 4_096;

/** What becomes of spans, for the log and the metrics. */
export interface SpanObserver {
  lost(spans: number): void;
  /** The collector has begun to refuse spans, or not to answer. `code` is a status, or one of the system. */
  unreached(code: string | number | undefined): void;
  /** It takes spans again. */
  reached(): void;
}

interface Result {
  readonly code: number;
  readonly error?: Error & { readonly code?: string | number };
}

/**
 * Bounds the spans in memory in front of the processor that sends them in batches. A collector that hangs, refuses or is
 * away costs spans, which are counted, and never a request.
 */
export class SpanQueue {
  private waiting = 0;
  private isReached = true;

  constructor(private readonly observer: SpanObserver) {}

  /** Passes on to `exporter`, and learns what became of each batch. */
  sending(exporter: SpanExporter): SpanExporter {
    return {
      export: (spans, done) =>
        exporter.export(spans, (result) => {
          this.waiting -= spans.length;
          this.learn(result, spans.length);
          done(result);
        }),
      shutdown: () => exporter.shutdown(),
      forceFlush: async () => exporter.forceFlush?.(),
    };
  }

  /** Passes on to `processor` what has room. */
  before(processor: SpanProcessor): SpanProcessor {
    return {
      onStart: () => undefined,
      onEnd: (span: ReadableSpan) => {
        if (this.waiting >= SPANS_MAX) return this.observer.lost(1);
        this.waiting++;
        processor.onEnd(span);
      },
      forceFlush: () => processor.forceFlush(),
      shutdown: () => processor.shutdown(),
    };
  }

  private learn({ code, error }: Result, spans: number): void {
    // ExportResultCode.SUCCESS
    const isReached = code === 0;
    if (!isReached) this.observer.lost(spans);
    if (isReached === this.isReached) return;
    this.isReached = isReached;
    if (isReached) this.observer.reached();
    else this.observer.unreached(error?.code);
  }
}
