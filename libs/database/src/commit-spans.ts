import { KIND, type Span, type Tracing } from '@app/tracing';

/** A commit that is durable, until the next one. */
interface Commit {
  readonly units: number;
  readonly durationMs: number;
  readonly endedMs: number;
  /** Once one of its units is recorded. */
  span?: Span;
}

/**
 * The spans of commits. One that several units share is inside the first of them that is recorded, since a span has one
 * parent; the others are linked to it.
 */
export class CommitSpans {
  private last: Commit | undefined;

  constructor(private readonly tracing: Tracing) {}

  /** Notes a commit, before the callbacks of its units. */
  note(units: number, durationMs: number): void {
    this.last = { units, durationMs, endedMs: Date.now() };
  }

  /** Adds the noted commit to the span of one of its units. */
  link(unit: Span): void {
    const { last } = this;
    if (last === undefined) return;
    const { units, durationMs, endedMs, span } = last;
    unit.setAttribute('lethe.unit.commit_ms', Math.round(durationMs * 100) / 100);
    if (span !== undefined) return void unit.addLink({ context: span.spanContext() });
    const attributes = { 'lethe.commit.units': units };
    const startedMs = endedMs - durationMs;
    last.span = this.tracing.inside(unit, { name: 'COMMIT', kind: KIND.client, attributes, startedMs });
    last.span.end(endedMs);
  }
}
