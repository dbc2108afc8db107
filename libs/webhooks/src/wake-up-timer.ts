/** Wakes the dispatcher at a time; tests replace it to simulate time. It holds at most one alarm. */
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
