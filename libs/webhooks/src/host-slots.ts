import type { Place } from './due-queue';
import type { CallResult } from './webhook-call';

/** A call of this duration, in milliseconds, is slow. */
const SLOW_MS = 1_000;
/** A receiver counts as slow for this multiple of the duration of its slow call. */
const SLOW_FOR = 60;
/** Receivers and hosts whose calls are remembered. */
const MARKS_MAX = 10_000;

/** Mark of a receiver that has answered quickly, and of a host whose last call was quick. */
const QUICK = 0;

/** All bots together may have this multiple of the calls that one bot may have to a host. */
const BOTS_PER_HOST = 4;

/** The name in the shares of all slots. No host has such a name. */
const ALL = 'all hosts';

/** What a slot is taken for. */
export type Slot = readonly [botId: string, url: string];

/** Takes a slot, or returns the place at which its call has to wait. */
export type Admit = (...slot: Slot) => Place | undefined;

type Kind = 'quick' | 'unproved' | 'slow';

interface Receiver {
  readonly name: string;
  readonly host: string;
  /** When its running calls began, the oldest first. */
  readonly begunMs: number[];
}

/**
 * The slots for calls at the same time. A receiver is a bot and a host, which is name and port: so a bot whose calls take
 * their time holds up no other bot of the same host. Each receiver gets a few slots, and one while it is slow: a call
 * lasts a second already, or a recent one did. A host gets a few times as many. Slow receivers together get half of all
 * slots, and half of the slots of each host; slow ones and receivers without an answer yet get three quarters. So a quick
 * receiver finds a slot, however many receivers take their time. In the shares of all slots, a receiver without an answer
 * yet counts as quick if the last call to its host was quick, for whichever bot. In the shares of its host it does not.
 */
export class HostSlots {
  /** The receivers with running calls, by name. */
  private readonly running = new Map<string, Receiver>();
  /** For each receiver {@link QUICK}, or the time until which it is slow; and {@link QUICK} for hosts. */
  private readonly marks = new Map<string, number>();
  /** The running calls at each place, counted at most once in a millisecond: one unit of leases can take all slots. */
  private calls = new Map<string, number>();
  private countedMs = -Infinity;

  constructor(
    private readonly total: number,
    private readonly perHost: number,
    private readonly monotonicMs: () => number,
  ) {}

  /** Takes a slot and returns undefined; otherwise returns the place at which the call has to wait for room. */
  take(botId: string, url: string): Place | undefined {
    const receiver = this.receiverOf(botId, url);
    const places = this.placesOf(receiver);
    const full = places.find(({ name, max }) => this.callsAt(name) >= max);
    if (full !== undefined) return full;
    receiver.begunMs.push(this.monotonicMs());
    this.running.set(receiver.name, receiver);
    this.add(1, places);
    return undefined;
  }

  /** Gives a slot back, with the result of a call that was made. */
  release(botId: string, url: string, result?: CallResult): void {
    const receiver = this.receiverOf(botId, url);
    const { name, begunMs } = receiver;
    // A slot without a call is the newest one.
    const ended = result === undefined ? begunMs.pop() : begunMs.shift();
    if (begunMs.length === 0) this.running.delete(name);
    if (ended !== undefined && result !== undefined && result.outcome !== 'interrupted')
      this.learn(receiver, result.durationMs);
    this.countedMs = -Infinity;
  }

  /** The running calls at a place. Calls that last become slow ones, so they are counted anew. */
  callsAt(place: string): number {
    const nowMs = Math.floor(this.monotonicMs());
    if (nowMs !== this.countedMs) {
      this.countedMs = nowMs;
      this.calls = new Map();
      for (const receiver of this.running.values())
        this.add(receiver.begunMs.length, this.placesOf(receiver));
    }
    return this.calls.get(place) ?? 0;
  }

  private add(calls: number, places: readonly Place[]): void {
    for (const { name } of places) this.calls.set(name, (this.calls.get(name) ?? 0) + calls);
  }

  /** Where a call is counted: at its receiver, in the shares of its host, and in the shares of all slots. */
  private placesOf(receiver: Receiver): readonly Place[] {
    const { name, host } = receiver;
    const kind = this.kindOf(receiver);
    const isProved = kind === 'unproved' && this.marks.get(host) === QUICK;
    return [
      { name, max: kind === 'slow' ? 1 : this.perHost },
      ...sharesOf(host, this.perHost * BOTS_PER_HOST, kind),
      ...sharesOf(ALL, this.total, isProved ? 'quick' : kind),
    ];
  }

  private kindOf({ name, begunMs: [oldestMs = Infinity] }: Receiver): Kind {
    const nowMs = this.monotonicMs();
    if (nowMs - oldestMs >= SLOW_MS || this.isKnownSlow(name, nowMs)) return 'slow';
    return this.marks.get(name) === QUICK ? 'quick' : 'unproved';
  }

  private isKnownSlow(name: string, nowMs: number): boolean {
    return (this.marks.get(name) ?? QUICK) > nowMs;
  }

  private learn(receiver: Receiver, durationMs: number): void {
    const { name, host } = receiver;
    const nowMs = this.monotonicMs();
    const isSlow = durationMs >= SLOW_MS;
    if (!isSlow && this.kindOf(receiver) === 'slow') return;
    if (!isSlow) this.mark(host, QUICK);
    // A receiver that turns out slow ends the proof of its host: otherwise a series of new bots could hold all slots.
    else if (!this.isKnownSlow(name, nowMs)) this.marks.delete(host);
    this.mark(name, isSlow ? nowMs + durationMs * SLOW_FOR : QUICK);
  }

  private mark(name: string, mark: number): void {
    this.marks.delete(name);
    this.marks.set(name, mark);
    const [oldest] = this.marks.keys();
    if (this.marks.size > MARKS_MAX && oldest !== undefined) this.marks.delete(oldest);
  }

  private receiverOf(botId: string, url: string): Receiver {
    const { host } = new URL(url);
    const name = `${botId} ${host}`;
    return this.running.get(name) ?? { name, host, begunMs: [] };
  }
}

/** The shares of `size` slots in which a call is counted. Slow calls count in all three, unproved ones in two, quick ones in one. */
function sharesOf(whose: string, size: number, kind: Kind): readonly Place[] {
  const shares = [
    { name: `slow:${whose}`, max: Math.max(1, Math.floor(size / 2)) },
    { name: `unproved:${whose}`, max: size - Math.floor(size / 4) },
    { name: `any:${whose}`, max: size },
  ];
  return shares.slice(['slow', 'unproved', 'quick'].indexOf(kind));
}
