import type { Room } from './due-queue';
import type { CallResult } from './webhook-sender';

/** A call of this duration, in milliseconds, is slow. */
const SLOW_MS = 1_000;
/** A receiver counts as slow for so many times the duration of its slow call. */
const SLOW_FOR = 60;
/** Receivers whose calls are remembered. */
const RECEIVERS_MAX = 10_000;

/** Mark of a receiver that has answered quickly. */
const QUICK = 0;

type Kind = 'quick' | 'unproved' | 'slow';

/**
 * The slots for calls at the same time. Each host gets a few, and one while it is slow: a call lasts a second already, or
 * a recent one did. Slow hosts together get half of all slots. Hosts without an answer yet, and slow ones, get three
 * quarters. So a quick receiver finds a slot, however many receivers take their time. A host is name and port.
 */
export class HostSlots {
  /** When the running calls to each host began. */
  private readonly running = new Map<string, number[]>();
  /** For each host {@link QUICK}, or the time until which it is slow. */
  private readonly receivers = new Map<string, number>();
  private readonly shares: Readonly<Record<'slow' | 'unproved', number>>;

  constructor(
    total: number,
    private readonly perHost: number,
    private readonly monotonicMs: () => number,
  ) {
    this.shares = {
      slow: Math.max(1, Math.floor(total / 2)),
      unproved: Math.max(1, total - Math.floor(total / 4)),
    };
  }

  /** Takes a slot and answers undefined; otherwise answers what the call has to wait for, a host or a share. */
  take(url: string): string | undefined {
    const host = hostOf(url);
    const kind = this.kindOf(host);
    const calls = this.running.get(host) ?? [];
    if (calls.length >= (kind === 'slow' ? 1 : this.perHost)) return host;
    const full = this.rooms().find(({ share, room }) => room <= 0 && isIn(kind, share));
    if (full !== undefined) return full.name;
    this.running.set(host, [...calls, this.monotonicMs()]);
    return undefined;
  }

  /** Gives a slot back, with the result of a call that was made; answers the host. */
  release(url: string, result?: CallResult): string {
    const host = hostOf(url);
    const calls = this.running.get(host) ?? [];
    // A slot without a call is the newest one.
    const left = result === undefined ? calls.slice(0, -1) : calls.slice(1);
    if (left.length > 0) this.running.set(host, left);
    else this.running.delete(host);
    if (result !== undefined && result.outcome !== 'interrupted') this.learn(host, result.durationMs);
    return host;
  }

  /** The free slots of each share, by the name that {@link take} answers. */
  rooms(): readonly (Room & { readonly share: 'slow' | 'unproved' })[] {
    const kinds = [...this.running].flatMap(([host, calls]) => calls.map(() => this.kindOf(host)));
    return (['slow', 'unproved'] as const).map((share) => ({
      share,
      name: `share:${share}`,
      room: this.shares[share] - kinds.filter((kind) => isIn(kind, share)).length,
    }));
  }

  private kindOf(host: string): Kind {
    const nowMs = this.monotonicMs();
    const [begunMs = nowMs] = this.running.get(host) ?? [];
    const slowUntilMs = this.receivers.get(host);
    if (nowMs - begunMs >= SLOW_MS || (slowUntilMs !== undefined && slowUntilMs > nowMs)) return 'slow';
    return slowUntilMs === QUICK ? 'quick' : 'unproved';
  }

  private learn(host: string, durationMs: number): void {
    const isSlow = durationMs >= SLOW_MS;
    if (!isSlow && this.kindOf(host) === 'slow') return;
    this.receivers.delete(host);
    this.receivers.set(host, isSlow ? this.monotonicMs() + durationMs * SLOW_FOR : QUICK);
    const [oldest] = this.receivers.keys();
    if (this.receivers.size > RECEIVERS_MAX && oldest !== undefined) this.receivers.delete(oldest);
  }
}

/** Slow hosts are in both shares. */
function isIn(kind: Kind, share: 'slow' | 'unproved'): boolean {
  return kind === 'slow' || kind === share;
}

function hostOf(url: string): string {
  return new URL(url).host;
}
