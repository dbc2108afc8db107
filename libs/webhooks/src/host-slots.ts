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

/** All bots together may call a host by so many times what one bot may. */
const BOTS_PER_HOST = 4;

/** What a slot is taken for. */
export type Slot = readonly [botId: string, url: string];

type Kind = 'quick' | 'unproved' | 'slow';

/** Some of the slots, of all hosts or of one, and the receivers that are counted there. */
interface Share extends Room {
  readonly kinds: readonly Kind[];
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
 * finds a slot, however many receivers take their time.
 */
export class HostSlots {
  /** The running calls, the oldest first. */
  private running: readonly Call[] = [];
  /** For each receiver {@link QUICK}, or the time until which it is slow. */
  private readonly receivers = new Map<string, number>();

  constructor(
    private readonly total: number,
    private readonly perHost: number,
    private readonly monotonicMs: () => number,
  ) {}

  /** Takes a slot and answers undefined; otherwise answers what the call has to wait for, a receiver or a share. */
  take(botId: string, url: string): string | undefined {
    const host = hostOf(url);
    const receiver = receiverOf(botId, host);
    const kind = this.kindOf(receiver);
    const own = this.running.filter((call) => call.receiver === receiver);
    if (own.length >= (kind === 'slow' ? 1 : this.perHost)) return receiver;
    const shares = [...this.sharesOf(host), ...this.sharesOfAll()];
    const full = shares.find(({ kinds, room }) => room <= 0 && kinds.includes(kind));
    if (full !== undefined) return full.name;
    this.running = [...this.running, { receiver, host, begunMs: this.monotonicMs() }];
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
    if (result !== undefined && result.outcome !== 'interrupted') this.learn(receiver, result.durationMs);
    return [...this.rooms(host), { name: receiver, room: Infinity }];
  }

  /** The free slots of each share, by the name that {@link take} answers: of all, and of hosts with calls or one more. */
  rooms(...more: readonly string[]): readonly Room[] {
    const hosts = new Set([...more, ...this.running.map(({ host }) => host)]);
    return [...this.sharesOfAll(), ...[...hosts].flatMap((host) => this.sharesOf(host))];
  }

  private sharesOfAll(): Share[] {
    return this.shares('all', this.total, this.running);
  }

  private sharesOf(host: string): Share[] {
    const calls = this.running.filter((call) => call.host === host);
    return this.shares(host, this.perHost * BOTS_PER_HOST, calls);
  }

  private shares(whose: string, count: number, calls: readonly Call[]): Share[] {
    const running = calls.map(({ receiver }) => this.kindOf(receiver));
    const share = (name: string, size: number, ...kinds: Kind[]): Share => ({
      name: `${name}:${whose}`,
      room: Math.max(1, size) - running.filter((kind) => kinds.includes(kind)).length,
      kinds,
    });
    return [
      share('slow', Math.floor(count / 2), 'slow'),
      share('unproved', count - Math.floor(count / 4), 'slow', 'unproved'),
      share('any', count, 'slow', 'unproved', 'quick'),
    ];
  }

  private kindOf(receiver: string): Kind {
    const nowMs = this.monotonicMs();
    const begunMs = this.running.find((call) => call.receiver === receiver)?.begunMs ?? nowMs;
    const slowUntilMs = this.receivers.get(receiver);
    if (nowMs - begunMs >= SLOW_MS || (slowUntilMs !== undefined && slowUntilMs > nowMs)) return 'slow';
    return slowUntilMs === QUICK ? 'quick' : 'unproved';
  }

  private learn(receiver: string, durationMs: number): void {
    const isSlow = durationMs >= SLOW_MS;
    if (!isSlow && this.kindOf(receiver) === 'slow') return;
    this.receivers.delete(receiver);
    this.receivers.set(receiver, isSlow ? this.monotonicMs() + durationMs * SLOW_FOR : QUICK);
    const [oldest] = this.receivers.keys();
    if (this.receivers.size > RECEIVERS_MAX && oldest !== undefined) this.receivers.delete(oldest);
  }
}

function receiverOf(botId: string, host: string): string {
  return `${botId} ${host}`;
}

function hostOf(url: string): string {
  return new URL(url).host;
}
