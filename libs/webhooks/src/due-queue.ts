/** A receiver or a share of the slots: calls are counted there, and `max` of them may run. */
export interface Place {
  readonly name: string;
  readonly max: number;
}

/**
 * The bots with deliveries to send, served in turn however many deliveries each has. The queue holds one time for each
 * bot, never its deliveries.
 */
export class DueQueue {
  /** Bots in the order in which they are served. */
  private readonly ready = new Set<string>();
  private readonly sleeping = new Map<string, number>();
  private readonly parked = new Map<string, { readonly max: number; readonly bots: Set<string> }>();
  private earliestMs = Infinity;

  /** Notes a delivery of the bot that is due at `dueMs`; an earlier time is kept. */
  wake(botId: string, dueMs: number): void {
    if (this.ready.has(botId)) return;
    const known = this.sleeping.get(botId) ?? Infinity;
    if (dueMs > known) return;
    this.sleeping.set(botId, dueMs);
    this.earliestMs = Math.min(this.earliestMs, dueMs);
  }

  /** The bot waits for room at a full place. */
  park(botId: string, { name, max }: Place): void {
    const bots = this.parked.get(name)?.bots ?? new Set();
    this.parked.set(name, { max, bots: bots.add(botId) });
  }

  /** Ends the waiting at each place for as many bots as there is room for beside the running calls. */
  unpark(callsAt: (place: string) => number): void {
    for (const [name, { max, bots }] of this.parked) {
      for (const botId of [...bots].slice(0, Math.max(0, max - callsAt(name)))) {
        bots.delete(botId);
        this.ready.add(botId);
      }
      if (bots.size === 0) this.parked.delete(name);
    }
  }

  /** Takes out at most `max` bots in turn. A bot with a `waitMs` sleeps that long instead; with Infinity it keeps its place. */
  take(nowMs: number, max: number, waitMs: (botId: string) => number): string[] {
    if (this.earliestMs <= nowMs) this.rouse(nowMs);
    const taken: string[] = [];
    for (const botId of this.ready) {
      if (taken.length >= max) break;
      const pauseMs = waitMs(botId);
      if (pauseMs === Infinity) continue;
      this.ready.delete(botId);
      if (pauseMs === 0) taken.push(botId);
      else this.wake(botId, nowMs + pauseMs);
    }
    return taken;
  }

  /** When the next sleeping bot is due; Infinity for none. */
  get nextDueMs(): number {
    return this.earliestMs;
  }

  private rouse(nowMs: number): void {
    this.earliestMs = Infinity;
    for (const [botId, dueMs] of this.sleeping) {
      if (dueMs <= nowMs) {
        this.sleeping.delete(botId);
        this.ready.add(botId);
      } else this.earliestMs = Math.min(this.earliestMs, dueMs);
    }
  }
}

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
