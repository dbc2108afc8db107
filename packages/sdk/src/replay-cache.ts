import { requireNumber } from './numbers';

const SECONDS_MAX = 366 * 86_400;
/** The maximum of kept ids. The oldest are removed first. */
const IDS_MAX = 100_000;

/** Where the ids of processed calls are kept, for example a table of your database. */
export interface WebhookStore {
  /** Whether the call with this id was processed. */
  has(id: string): boolean | Promise<boolean>;
  /** Called after the event was processed: an earlier call would lose the event if processing fails. */
  add(id: string): void | Promise<void>;
}

export interface ReplayCacheOptions {
  /**
   * How long an id is kept, in seconds; four days by default. It must be longer than the pause between two attempts of Lethe: the longest
   * one is 26.4 hours.
   */
  readonly seconds?: number;
  readonly now?: () => number;
}

/**
 * Keeps the ids of processed calls in memory, so that a repeated delivery is confirmed without a second effect. After a
 * restart, or in a second process, a call can be processed twice. That is harmless for deletions; for other effects
 * keep the ids in a database.
 */
export class ReplayCache implements WebhookStore {
  private readonly seen = new Map<string, number>();
  private readonly lifetimeMs: number;
  private readonly now: () => number;

  constructor({ seconds = 4 * 86_400, now = Date.now }: ReplayCacheOptions = {}) {
    requireNumber('seconds', seconds, 1, SECONDS_MAX);
    this.lifetimeMs = seconds * 1000;
    this.now = now;
  }

  has(id: string): boolean {
    const seenAt = this.seen.get(id);
    return seenAt !== undefined && this.now() - seenAt < this.lifetimeMs;
  }

  add(id: string): void {
    this.seen.delete(id);
    this.seen.set(id, this.now());
    for (const [oldest, seenAt] of this.seen) {
      if (this.seen.size <= IDS_MAX && this.now() - seenAt < this.lifetimeMs) break;
      this.seen.delete(oldest);
    }
  }
}
