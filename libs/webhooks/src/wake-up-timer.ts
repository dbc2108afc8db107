/** Wakes the dispatcher later; replaced in tests that play the time. One alarm at most is set. */
export abstract class WakeUpTimer {
  /** Replaces the alarm that was set before. */
  abstract set(afterMs: number, ring: () => void): void;
  abstract clear(): void;
}

export class SystemTimer extends WakeUpTimer {
  private timer: NodeJS.Timeout | undefined;

  set(afterMs: number, ring: () => void): void {
    this.clear();
    this.timer = setTimeout(ring, afterMs);
  }

  clear(): void {
    clearTimeout(this.timer);
  }
}
