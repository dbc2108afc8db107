import { AsyncLocalStorage } from 'node:async_hooks';
import type { Context, Link, Span, Tracer } from '@opentelemetry/api';
import type { OpenSpans } from './open-spans';
import { type Begin, KIND, Tracing } from './tracing';

/** The longest time that the end of a process waits for its last spans, in milliseconds. */
const CLOSE_MAX_MS = 2_000;

/** What the packages of OpenTelemetry make of the settings. */
export interface Recorder {
  readonly tracer: Tracer;
  readonly root: Context;
  readonly inside: (parent: Span) => Context;
  /** The spans of `tracer`. */
  readonly open: OpenSpans;
  readonly shutdown: () => Promise<void>;
}

/**
 * Traces that a collector gets. Nothing of OpenTelemetry is global, and nothing is replaced in other packages. While the store
 * is in use each promise of the process costs more on Node before 24, so it is used only while a span is open.
 */
export class OpenTelemetryTracing extends Tracing {
  readonly isOn = true;
  private readonly store = new AsyncLocalStorage<Span | undefined>();

  constructor(private readonly recorder: Recorder) {
    super();
    recorder.open.onNone = () => this.store.disable();
  }

  /** A timer or a loop that work has started keeps its span after the end. */
  get current(): Span | undefined {
    const span = this.store.getStore();
    return span?.isRecording() === true ? span : undefined;
  }

  begin(begin: Begin): Span | undefined {
    const span = this.start(this.recorder.root, begin);
    return span.isRecording() ? span : undefined;
  }

  inside(parent: Span, begin: Begin): Span {
    return this.start(this.recorder.inside(parent), begin);
  }

  within<T>(span: Span | undefined, work: () => T): T {
    // Without a span to leave, the first use of the store would only begin its cost.
    if (span === undefined && this.store.getStore() === undefined) return work();
    return this.store.run(span, work);
  }

  async onApplicationShutdown(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, CLOSE_MAX_MS)));
    await Promise.race([this.recorder.shutdown().catch(() => undefined), late]);
    clearTimeout(timer);
  }

  private start(context: Context, begin: Begin): Span {
    const { name, kind = KIND.internal, attributes, links = [], startedMs: startTime } = begin;
    const linked = links.map((span): Link => ({ context: span }));
    return this.recorder.tracer.startSpan(name, { kind, attributes, links: linked, startTime }, context);
  }
}
