import type { CallResult } from './webhook-sender';

/** Failures in a row after which a receiver is spared. */
const FAILURES_MAX = 5;
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 600_000;

interface Breaker {
  failures: number;
  pauseMs: number;
  openUntilMs: number;
  probing: boolean;
}

/**
 * Spares receivers that are down, one breaker per bot, that is per URL of a bot: bots that name the same URL cannot
 * shut it off for each other. After five failures in a row nothing is sent for a while, then a single probe; the pause
 * doubles with every failed probe. Deliveries that wait meanwhile lose none of their attempts.
 */
export class CircuitBreakers {
  private readonly breakers = new Map<string, Breaker>();

  constructor(private readonly monotonicMs: () => number) {}

  /** Milliseconds until the bot's receiver may be called: 0 for now, Infinity while a probe is under way. */
  waitMs(botId: string): number {
    const breaker = this.breakers.get(botId);
    if (breaker === undefined || breaker.failures < FAILURES_MAX) return 0;
    if (breaker.probing) return Infinity;
    return Math.max(0, breaker.openUntilMs - this.monotonicMs());
  }

  /** Somebody wants to know now whether the receiver is back: the next call may be the probe. */
  probeNow(botId: string): void {
    const breaker = this.breakers.get(botId);
    if (breaker !== undefined) breaker.openUntilMs = this.monotonicMs();
  }

  /** A call begins; true when it is the probe of a receiver that was being spared. */
  begin(botId: string): boolean {
    const breaker = this.breakers.get(botId);
    if (breaker === undefined || breaker.failures < FAILURES_MAX) return false;
    return (breaker.probing = true);
  }

  /** A call has ended without telling anything about the receiver. */
  abandon(botId: string): void {
    const breaker = this.breakers.get(botId);
    if (breaker !== undefined) breaker.probing = false;
  }

  /** The receiver answered; true when it had been spared until now. */
  succeed(botId: string): boolean {
    const spared = (this.breakers.get(botId)?.failures ?? 0) >= FAILURES_MAX;
    this.breakers.delete(botId);
    return spared;
  }

  fail(botId: string): void {
    const breaker = this.breakers.get(botId) ?? { failures: 0, pauseMs: 0, openUntilMs: 0, probing: false };
    this.breakers.set(botId, breaker);
    breaker.failures++;
    // Of the calls that were under way when the breaker opened, none prolongs the pause.
    const concerns = breaker.probing || breaker.failures === FAILURES_MAX;
    breaker.probing = false;
    if (!concerns) return;
    breaker.pauseMs =
      breaker.pauseMs === 0 ? FIRST_PAUSE_MS : Math.min(breaker.pauseMs * 2, LONGEST_PAUSE_MS);
    breaker.openUntilMs = this.monotonicMs() + breaker.pauseMs;
  }

  /** What a result says of the receiver; true when it is back after it had been spared. */
  learn(botId: string, { outcome, status }: CallResult): boolean {
    if (outcome === 'interrupted') this.abandon(botId);
    // A receiver that refuses one event is alive: the others need not wait.
    else if (outcome === 'refused' && status !== undefined && status < 500 && status !== 429)
      return this.succeed(botId);
    else if (outcome === 'confirmed' || outcome === 'gone') return this.succeed(botId);
    else this.fail(botId);
    return false;
  }

  /** The bot's calls go elsewhere now: what was known counts no more. */
  forget(botId: string): void {
    this.breakers.delete(botId);
  }

  /** Drops what is known of bots that have nothing to send. */
  retain(isKept: (botId: string) => boolean): void {
    for (const botId of this.breakers.keys()) if (!isKept(botId)) this.breakers.delete(botId);
  }
}
