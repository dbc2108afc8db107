/** Ids kept at most; the oldest go first. */
const IDS_MAX = 100_000;

export interface ReplayCacheOptions {
  /** How long an id is remembered; longer than the tolerance of the verification. 24 hours unless told. */
  readonly seconds?: number;
  readonly now?: () => number;
}

/**
 * Remembers the ids of calls that were acted upon, so that a repeated delivery is confirmed without acting twice. In
 * memory: a process that starts anew, or a second one, acts again, which deleting bears; else keep ids in a database.
 */
export class ReplayCache {
  private readonly seen = new Map<string, number>();
  private readonly lifetimeMs: number;
  private readonly now: () => number;

  constructor({ seconds = 86_400, now = Date.now }: ReplayCacheOptions = {}) {
    this.lifetimeMs = seconds * 1000;
    this.now = now;
  }

  has(id: string): boolean {
    const seenAt = this.seen.get(id);
    return seenAt !== undefined && this.now() - seenAt < this.lifetimeMs;
  }

  /** To be called when the event has been acted upon: not before, or a failure would lose it. */
  add(id: string): void {
    this.seen.delete(id);
    this.seen.set(id, this.now());
    for (const [oldest, seenAt] of this.seen) {
      if (this.seen.size <= IDS_MAX && this.now() - seenAt < this.lifetimeMs) break;
      this.seen.delete(oldest);
    }
  }
}
