import type { Clock } from './clock';

interface Reading<T> {
  readonly answer: Promise<T>;
  /** Undefined while it is under way. */
  endedMs?: number;
  /** Something has changed since it began. */
  isStale?: true;
}

/**
 * Something that needs a query. All readers share one reading until `holdMs` milliseconds after its end, also one that
 * fails, and there is one at a time.
 */
export class SharedReading<T> {
  private last: Reading<T> | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly holdMs: number,
    private readonly ask: () => Promise<T>,
  ) {}

  get(): Promise<T> {
    if (this.last === undefined || this.isOver(this.last)) this.last = this.after(this.last);
    return this.last.answer;
  }

  /** The next reader asks anew: at once, or after the reading that is under way. */
  forget(): void {
    if (this.last !== undefined) this.last.isStale = true;
  }

  private isOver({ endedMs, isStale }: Reading<T>): boolean {
    if (isStale === true) return true;
    return endedMs !== undefined && this.clock.monotonicMs() - endedMs >= this.holdMs;
  }

  private after(before: Reading<T> | undefined): Reading<T> {
    const isFree = before === undefined || before.endedMs !== undefined;
    const asked = isFree ? this.ask() : before.answer.then(this.ask, this.ask);
    const reading: Reading<T> = {
      answer: asked.finally(() => (reading.endedMs = this.clock.monotonicMs())),
    };
    return reading;
  }
}
