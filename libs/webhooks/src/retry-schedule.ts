import type { Random } from '@app/kernel';
import type { Restart } from './delivery-states';

/** A retry comes up to this much later than planned, so that a receiver's backlog does not return as one wave. */
const JITTER = 0.1;
/** How long after the planned end of all retries a delivery may still wait for a receiver that is being spared. */
const GRACE_MS = 86_400_000;

/** When a failed call is tried again, and when no more. */
export class RetrySchedule {
  /** From the first attempt to the time at which a delivery is given up, whatever happened. */
  readonly lifetimeMs: number;

  constructor(
    private readonly pausesMs: readonly number[],
    private readonly random: Random,
  ) {
    this.lifetimeMs = pausesMs.reduce((sum, pause) => sum + pause, 0) * (1 + JITTER) + GRACE_MS;
  }

  /** A schedule that begins now. */
  begin(nowMs: number): Restart {
    const giveUpAt = new Date(nowMs + this.lifetimeMs).toISOString();
    return { dueAt: new Date(nowMs).toISOString(), giveUpAt };
  }

  /** The pause after a failure when `retries` were used up before it; undefined when that was the last attempt. */
  pauseMs(retries: number, retryAfterMs = 0): number | undefined {
    const planned = this.pausesMs[retries];
    if (planned === undefined) return undefined;
    return Math.round(Math.max(planned, retryAfterMs) * (1 + JITTER * this.random.fraction()));
  }
}
