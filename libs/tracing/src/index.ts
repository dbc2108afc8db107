export { openTracing } from './open-tracing';
export type { SpanObserver } from './span-queue';
export {
  type Attributes,
  type Begin,
  ended,
  failed,
  KIND,
  type LinkedSpan,
  markFailed,
  NO_TRACING,
  type Span,
  Tracing,
} from './tracing';
