import type { CallResult } from './webhook-call';

/** Failures in a row after which calls are paused. */
export const FAILURES_MAX = 5;
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 600_000;

interface Breaker {
  readonly failures: number;
  /** The end of the pause; Infinity during a probe. */
  pausedUntilMs: number;
  /** A call was asked for by hand during the probe: no pause follows it. */
  isAskedFor?: boolean;
  /** It was down before its last answers, and has confirmed none since. The database says so until this process has an answer. */
  wasDown?: boolean;
}

/**
 * Pauses calls to receivers that are down. Each bot has its own breaker, so that bots with the same URL cannot block it
 * for each other. After five failures in a row no call is made for a while, then a single probe; the pause doubles with
 * every failed probe. Deliveries that wait lose no attempts.
 */
export class CircuitBreakers {
  private readonly breakers = new Map<string, Breaker>();

  constructor(private readonly monotonicMs: () => number) {}

  /** Milliseconds until the bot's receiver may be called: 0 for now, Infinity during a probe. */
  waitMs(botId: string): number {
    return Math.max(0, (this.breakers.get(botId)?.pausedUntilMs ?? 0) - this.monotonicMs());
  }

  /** Ends the pause, so that the next call is a probe; for calls asked for by hand. During a probe it is the one after it. */
  probeNow(botId: string): void {
    const breaker = this.breakers.get(botId);
    if (breaker === undefined) return;
    if (breaker.pausedUntilMs === Infinity) breaker.isAskedFor = true;
    else breaker.pausedUntilMs = 0;
  }

  /** Notes the begin of a call: after a pause it is the only one. */
  begin(botId: string): void {
    const breaker = this.breakers.get(botId);
    if (breaker !== undefined && breaker.failures >= FAILURES_MAX) breaker.pausedUntilMs = Infinity;
  }

  /**
   * Notes the result of a call; true when the receiver confirms again after a pause. The pause can be one of another process, or of
   * one that has ended: `stored` are the failures in a row that the database knows, refusals of single events among them. It counts
   * only before the first answer that this process has.
   */
  learn(botId: string, { outcome, status = 0 }: CallResult, stored = 0): boolean {
    const known: Breaker = this.breakers.get(botId) ?? { failures: 0, pausedUntilMs: 0 };
    const { failures, pausedUntilMs, isAskedFor, wasDown = stored >= FAILURES_MAX } = known;
    // A receiver that refuses one event answers: the other deliveries need not wait.
    const refusesOne = outcome === 'refused' && status < 500 && status !== 429;
    if (outcome === 'confirmed' || outcome === 'gone' || refusesOne) {
      const isDown = wasDown || failures >= FAILURES_MAX;
      const confirms = outcome === 'confirmed';
      this.breakers.set(botId, { failures: 0, pausedUntilMs: 0, wasDown: isDown && !confirms });
      return isDown && confirms;
    }
    const isProbe = pausedUntilMs === Infinity;
    if (outcome === 'interrupted') {
      if (isProbe) this.breakers.set(botId, { ...known, isAskedFor: false, pausedUntilMs: 0 });
    } else if (isProbe || this.waitMs(botId) === 0) {
      // Calls that began before the pause do not prolong it.
      const pausedUntil = isAskedFor ? 0 : this.monotonicMs() + pauseAfter(failures + 1);
      this.breakers.set(botId, {
        ...known,
        isAskedFor: false,
        failures: failures + 1,
        pausedUntilMs: pausedUntil,
      });
    }
    return false;
  }

  /** Notes that a confirmation after a pause was not stored: the next one is the first again, whatever was stored meanwhile. */
  unlearn(botId: string): void {
    const known = this.breakers.get(botId) ?? { failures: 0, pausedUntilMs: 0 };
    this.breakers.set(botId, { ...known, wasDown: true });
  }

  /** Discards the state of a bot whose URL has changed. */
  forget(botId: string): void {
    this.breakers.delete(botId);
  }

  /** Discards the state of bots without deliveries to send. */
  retain(waiting: ReadonlySet<string>): void {
    for (const botId of this.breakers.keys()) if (!waiting.has(botId)) this.breakers.delete(botId);
  }
}

function pauseAfter(failures: number): number {
  if (failures < FAILURES_MAX) return 0;
  return Math.min(FIRST_PAUSE_MS * 2 ** (failures - FAILURES_MAX), LONGEST_PAUSE_MS);
}
