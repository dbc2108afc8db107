import type { SpanProcessor } from '@opentelemetry/sdk-trace-base';

/** Counts the recorded spans that have begun and not ended. */
export class OpenSpans implements SpanProcessor {
  private count = 0;
  /** Is called when the last of them ends. */
  onNone: () => void = () => undefined;

  onStart(): void {
    this.count++;
  }

  onEnd(): void {
    if (--this.count === 0) this.onNone();
  }

  async forceFlush(): Promise<void> {}

  async shutdown(): Promise<void> {}
}
