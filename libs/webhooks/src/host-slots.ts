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

/** Some of the slots, of all hosts or of one, and whose calls are counted there. */
interface Share extends Room {
  readonly counts: (receiver: Receiver) => boolean;
}

interface Receiver {
  readonly name: string;
  readonly host: string;
  /** When its running calls began, the oldest first. */
  readonly begunMs: number[];
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
  /**
   * The receivers with running calls, by name. A claim takes up to as many slots as there are, within one unit, so a slot is
   * taken or given back in one pass over them.
   */
  private readonly running = new Map<string, Receiver>();
  /** For each receiver {@link QUICK}, or the time until which it is slow; and {@link QUICK} for hosts. */
  private readonly marks = new Map<string, number>();

  constructor(
    private readonly total: number,
    private readonly perHost: number,
    private readonly monotonicMs: () => number,
  ) {}

  /** Takes a slot and answers undefined; otherwise answers what the call has to wait for, a receiver or a share. */
  take(botId: string, url: string): string | undefined {
    const receiver = this.receiverOf(botId, url);
    const { name, host, begunMs } = receiver;
    if (begunMs.length >= (this.kindOf(receiver) === 'slow' ? 1 : this.perHost)) return name;
    const all = [...this.running.values()];
    const own = all.filter((other) => other.host === host);
    const full = [...this.sharesOf(host, own), ...this.sharesOfAll(all)].find(
      ({ room, counts }) => room <= 0 && counts(receiver),
    );
    if (full !== undefined) return full.name;
    begunMs.push(this.monotonicMs());
    this.running.set(name, receiver);
    return undefined;
  }

  /** Gives a slot back, with the result of a call that was made; answers the room that there is now, for others first. */
  release(botId: string, url: string, result?: CallResult): readonly Room[] {
    const receiver = this.receiverOf(botId, url);
    const { name, host, begunMs } = receiver;
    // A slot without a call is the newest one.
    const ended = result === undefined ? begunMs.pop() : begunMs.shift();
    if (begunMs.length === 0) this.running.delete(name);
    if (ended !== undefined && result !== undefined && result.outcome !== 'interrupted')
      this.learn(receiver, result.durationMs);
    return [...this.rooms(host), { name, room: Infinity }];
  }

  /** The free slots of each share, by the name that {@link take} answers: of all, and of hosts with calls or one more. */
  rooms(...more: readonly string[]): readonly Room[] {
    const all = [...this.running.values()];
    const hosts = new Map(more.map((host): [string, Receiver[]] => [host, []]));
    for (const receiver of all) {
      const own = hosts.get(receiver.host);
      if (own === undefined) hosts.set(receiver.host, [receiver]);
      else own.push(receiver);
    }
    return [...this.sharesOfAll(all), ...[...hosts].flatMap(([host, own]) => this.sharesOf(host, own))];
  }

  private sharesOfAll(receivers: readonly Receiver[]): Share[] {
    return this.shares('all', this.total, receivers, (receiver) => {
      const kind = this.kindOf(receiver);
      return kind === 'unproved' && this.marks.get(receiver.host) === QUICK ? 'quick' : kind;
    });
  }

  private sharesOf(host: string, receivers: readonly Receiver[]): Share[] {
    return this.shares(host, this.perHost * BOTS_PER_HOST, receivers, (receiver) => this.kindOf(receiver));
  }

  private shares(
    whose: string,
    size: number,
    receivers: readonly Receiver[],
    kindOf: (receiver: Receiver) => Kind,
  ): Share[] {
    const calls: Record<Kind, number> = { slow: 0, unproved: 0, quick: 0 };
    for (const receiver of receivers) calls[kindOf(receiver)] += receiver.begunMs.length;
    const share = (name: string, slots: number, ...kinds: Kind[]): Share => ({
      name: `${name}:${whose}`,
      room: kinds.reduce((room, kind) => room - calls[kind], Math.max(1, slots)),
      counts: (receiver) => kinds.includes(kindOf(receiver)),
    });
    return [
      share('slow', Math.floor(size / 2), 'slow'),
      share('unproved', size - Math.floor(size / 4), 'slow', 'unproved'),
      share('any', size, 'slow', 'unproved', 'quick'),
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
    // A receiver that turns out slow ends the proof of its host: else ever new bots there could hold all slots.
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
