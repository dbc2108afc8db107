import type { Room } from './due-queue';
import type { CallResult } from './webhook-sender';

/** A call of this duration, in milliseconds, is slow. */
const SLOW_MS = 1_000;
/** A receiver counts as slow for so many times the duration of its slow call. */
const SLOW_FOR = 60;
/** Receivers and hosts whose calls are remembered. */
const MARKS_MAX = 10_000;

/** Mark of a receiver that has answered quickly, and of a host whose last call was quick. */
const QUICK = 0;

/** All bots together may call a host by so many times what one bot may. */
const BOTS_PER_HOST = 4;

/** What a slot is taken for. */
export type Slot = readonly [botId: string, url: string];

type Kind = 'quick' | 'unproved' | 'slow';

/** Some of the slots, of all hosts or of one, and which calls are counted there. */
interface Share extends Room {
  readonly counts: (call: Call) => boolean;
}

interface Call {
  readonly receiver: string;
  readonly host: string;
  readonly begunMs: number;
}

/**
 * The slots for calls at the same time. A receiver is a bot and a host, which is name and port: so a bot whose calls take
 * their time holds up no other bot of the same host. Each receiver gets a few slots, and one while it is slow: a call
 * lasts a second already, or a recent one did. A host gets a few times as many. Of all slots, and of those of each host, slow
 * receivers together get half. Receivers without an answer yet, and slow ones, get three quarters. So a quick receiver
 * finds a slot, however many receivers take their time. Among all hosts a receiver without an answer yet is as quick as the
 * last call to its host was, whichever bot it came from; among the receivers of its host it is not.
 */
export class HostSlots {
  /** The running calls, the oldest first. */
  private running: readonly Call[] = [];
  /** For each receiver {@link QUICK}, or the time until which it is slow; and {@link QUICK} for hosts. */
  private readonly marks = new Map<string, number>();

  constructor(
    private readonly total: number,
    private readonly perHost: number,
    private readonly monotonicMs: () => number,
  ) {}

  /** Takes a slot and answers undefined; otherwise answers what the call has to wait for, a receiver or a share. */
  take(botId: string, url: string): string | undefined {
    const host = hostOf(url);
    const receiver = receiverOf(botId, host);
    const call = { receiver, host, begunMs: this.monotonicMs() };
    const own = this.running.filter((other) => other.receiver === receiver);
    if (own.length >= (this.kindOf(call) === 'slow' ? 1 : this.perHost)) return receiver;
    const shares = [...this.sharesOf(host), ...this.sharesOfAll()];
    const full = shares.find(({ room, counts }) => room <= 0 && counts(call));
    if (full !== undefined) return full.name;
    this.running = [...this.running, call];
    return undefined;
  }

  /** Gives a slot back, with the result of a call that was made; answers the room that there is now, for others first. */
  release(botId: string, url: string, result?: CallResult): readonly Room[] {
    const host = hostOf(url);
    const receiver = receiverOf(botId, host);
    const own = this.running.filter((call) => call.receiver === receiver);
    // A slot without a call is the newest one.
    const ended = result === undefined ? own.at(-1) : own[0];
    this.running = this.running.filter((call) => call !== ended);
    if (ended !== undefined && result !== undefined && result.outcome !== 'interrupted')
      this.learn(ended, result.durationMs);
    return [...this.rooms(host), { name: receiver, room: Infinity }];
  }

  /** The free slots of each share, by the name that {@link take} answers: of all, and of hosts with calls or one more. */
  rooms(...more: readonly string[]): readonly Room[] {
    const hosts = new Set([...more, ...this.running.map(({ host }) => host)]);
    return [...this.sharesOfAll(), ...[...hosts].flatMap((host) => this.sharesOf(host))];
  }

  private sharesOfAll(): Share[] {
    return this.shares('all', this.total, this.running, (call) => {
      const kind = this.kindOf(call);
      return kind === 'unproved' && this.marks.get(call.host) === QUICK ? 'quick' : kind;
    });
  }

  private sharesOf(host: string): Share[] {
    const calls = this.running.filter((call) => call.host === host);
    return this.shares(host, this.perHost * BOTS_PER_HOST, calls, (call) => this.kindOf(call));
  }

  private shares(whose: string, size: number, calls: readonly Call[], kindOf: (call: Call) => Kind): Share[] {
    const share = (name: string, slots: number, ...kinds: Kind[]): Share => {
      const counts = (call: Call): boolean => kinds.includes(kindOf(call));
      return { name: `${name}:${whose}`, room: Math.max(1, slots) - calls.filter(counts).length, counts };
    };
    return [
      share('slow', Math.floor(size / 2), 'slow'),
      share('unproved', size - Math.floor(size / 4), 'slow', 'unproved'),
      share('any', size, 'slow', 'unproved', 'quick'),
    ];
  }

  private kindOf({ receiver }: Call): Kind {
    const nowMs = this.monotonicMs();
    const begunMs = this.running.find((call) => call.receiver === receiver)?.begunMs ?? nowMs;
    if (nowMs - begunMs >= SLOW_MS || this.isKnownSlow(receiver)) return 'slow';
    return this.marks.get(receiver) === QUICK ? 'quick' : 'unproved';
  }

  private isKnownSlow(receiver: string): boolean {
    return (this.marks.get(receiver) ?? QUICK) > this.monotonicMs();
  }

  private learn(call: Call, durationMs: number): void {
    const isSlow = durationMs >= SLOW_MS;
    if (!isSlow && this.kindOf(call) === 'slow') return;
    if (!isSlow) this.mark(call.host, QUICK);
    // A receiver that turns out slow ends the proof of its host: else ever new bots there could hold all slots.
    else if (!this.isKnownSlow(call.receiver)) this.marks.delete(call.host);
    this.mark(call.receiver, isSlow ? this.monotonicMs() + durationMs * SLOW_FOR : QUICK);
  }

  private mark(name: string, mark: number): void {
    this.marks.delete(name);
    this.marks.set(name, mark);
    const [oldest] = this.marks.keys();
    if (this.marks.size > MARKS_MAX && oldest !== undefined) this.marks.delete(oldest);
  }
}

function receiverOf(botId: string, host: string): string {
  return `${botId} ${host}`;
}

function hostOf(url: string): string {
  return new URL(url).host;
}
