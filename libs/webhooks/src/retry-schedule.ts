import type { Random } from '@app/kernel';
import type { Restart } from './delivery-states';

/** Most delay of a retry, as a share of its pause, so that a backlog does not return at one time. */
const JITTER = 0.1;
/** How long after the planned end of all retries a delivery can wait for a paused receiver. */
const GRACE_MS = 86_400_000;

/** The times of retries and of giving up. */
export class RetrySchedule {
  /** Time from the first attempt to the giving up of a delivery. */
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

  /** The end of a schedule. That of a delivery which has waited for the end of a suspension begins anew with it. */
  giveUpMs(giveUpAt: string, resumedAt: string | null): number {
    const anewMs = resumedAt === null ? 0 : Date.parse(resumedAt) + this.lifetimeMs;
    return Math.max(Date.parse(giveUpAt), anewMs);
  }

  /** The pause after a failure, with `retries` used before it; undefined after the last attempt. */
  pauseMs(retries: number, retryAfterMs = 0): number | undefined {
    const planned = this.pausesMs[retries];
    if (planned === undefined) return undefined;
    return Math.round(Math.max(planned, retryAfterMs) * (1 + JITTER * this.random.fraction()));
  }
}
