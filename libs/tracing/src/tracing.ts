import type { Attributes, Span, SpanContext, SpanKind } from '@opentelemetry/api';

export type { Attributes, Span, SpanContext as LinkedSpan } from '@opentelemetry/api';

/** What a span is of, in the order of OpenTelemetry, whose package is not loaded for it. */
export const KIND = { internal: 0, server: 1, client: 2 } as const satisfies Record<string, SpanKind>;

/** The begin of a span: its name and kind, its attributes, and the spans of other traces that belong to it. */
export interface Begin {
  readonly name: string;
  readonly kind?: SpanKind;
  /** Words of the code, numbers and ids of bots: never an id of a user, a value, a key or the text of an error. */
  readonly attributes?: Attributes;
  readonly links?: readonly SpanContext[];
  /** Milliseconds of `Date.now()`, for work that is over. */
  readonly startedMs?: number;
}

/**
 * The traces of this process. Work that a caller, a timer or a queue begins has a trace of its own; what it does is inside
 * it. No method throws or waits. A span that is not recorded is undefined, so that work without a trace costs nothing.
 */
export abstract class Tracing {
  abstract readonly isOn: boolean;

  /** The span of the work under way; undefined after its end. */
  abstract get current(): Span | undefined;

  /** Begins a trace. */
  abstract begin(begin: Begin): Span | undefined;

  /** Begins a span inside `parent`. */
  abstract inside(parent: Span, begin: Begin): Span;

  /** Runs `work` as the work of `span`, or of no span. */
  abstract within<T>(span: Span | undefined, work: () => T): T;

  /** At the end of the process. Resolves when the spans that have ended are sent, or soon. */
  abstract onApplicationShutdown(): Promise<void>;

  /** Runs `work` in a trace of its own, which ends with it. */
  async trace<T>(begin: Begin, work: (span: Span | undefined) => Promise<T>): Promise<T> {
    const span = this.begin(begin);
    return this.within(span, () => (span === undefined ? work(span) : ended(span, work(span))));
  }
}

/** Ends `span` with `work`. */
export async function ended<T>(span: Span, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    failed(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** Marks a span as failed by the kind of an error. Its message can hold a value. */
export function failed(span: Span, error: unknown): void {
  const { name, code } = error as Partial<Record<'name' | 'code', unknown>>;
  span.setAttribute('error.type', [code, name].find((kind) => typeof kind === 'string') ?? typeof error);
  markFailed(span);
}

export function markFailed(span: Span): void {
  // SpanStatusCode.ERROR, without loading the package for it.
  span.setStatus({ code: 2 });
}

class NoTracing extends Tracing {
  readonly isOn = false;
  readonly current = undefined;

  begin(): undefined {
    return undefined;
  }

  inside(parent: Span): Span {
    return parent;
  }

  within<T>(_span: Span | undefined, work: () => T): T {
    return work();
  }

  async onApplicationShutdown(): Promise<void> {}
}

/** Records nothing: without a collector. */
export const NO_TRACING: Tracing = new NoTracing();
