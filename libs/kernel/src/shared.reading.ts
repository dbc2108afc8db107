import type { Clock } from './clock';

/** A number that needs a query. All readers share one reading for `holdMs` milliseconds. */
export class SharedReading<T> {
  private reading: Promise<T> | undefined;
  private askedMs = 0;

  constructor(
    private readonly clock: Clock,
    private readonly holdMs: number,
    private readonly ask: () => Promise<T>,
  ) {}

  get(): Promise<T> {
    const nowMs = this.clock.monotonicMs();
    if (this.reading === undefined || nowMs - this.askedMs >= this.holdMs) {
      this.askedMs = nowMs;
      this.reading = this.ask();
    }
    return this.reading;
  }
}
