import { Clock } from '@app/kernel';
import { WakeUpTimer } from '@app/webhooks';

interface Task {
  readonly atMs: number;
  readonly run: () => void;
}

/** A clock that only the test moves, and all tasks on it. */
export class Timeline extends Clock {
  /** The deviation of the wall clock; it does not affect durations. */
  offsetMs = 0;
  private elapsedMs = 0;
  private readonly tasks = new Set<Task>();

  constructor(private readonly startMs = Date.parse('2026-01-01T00:00:00Z')) {
    super();
  }

  nowMs(): number {
    return this.startMs + this.elapsedMs + this.offsetMs;
  }

  monotonicMs(): number {
    return this.elapsedMs;
  }

  continueFrom(): void {
    return undefined;
  }

  after(ms: number, run: () => void): () => void {
    const task = { atMs: this.elapsedMs + ms, run };
    this.tasks.add(task);
    return () => this.tasks.delete(task);
  }

  /** Plays `ms` of time, task by task; `settle` completes the consequences of one task before the next. */
  async play(ms: number, settle: () => Promise<void>): Promise<void> {
    const endMs = this.elapsedMs + ms;
    await settle();
    for (let task = this.next(endMs); task !== undefined; task = this.next(endMs)) {
      this.elapsedMs = task.atMs;
      this.tasks.delete(task);
      task.run();
      await settle();
    }
    this.elapsedMs = endMs;
  }

  private next(endMs: number): Task | undefined {
    let next: Task | undefined;
    for (const task of this.tasks)
      if (task.atMs <= endMs && (next === undefined || task.atMs < next.atMs)) next = task;
    return next;
  }
}

/** An alarm on the timeline. */
export class PlayedAlarm extends WakeUpTimer {
  private cancel = (): unknown => undefined;

  constructor(private readonly timeline: Timeline) {
    super();
  }

  set(afterMs: number, ring: () => void): void {
    this.clear();
    this.cancel = this.timeline.after(afterMs, ring);
  }

  clear(): void {
    this.cancel();
  }
}
