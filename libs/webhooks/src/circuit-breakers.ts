import type { CallResult } from './webhook-sender';

/** Failures in a row after which calls are paused. */
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
 * Pauses calls to receivers that are down. Each bot has its own breaker, so that bots with the same URL cannot block it
 * for each other. After five failures in a row no call is made for a while, then a single probe; the pause doubles with
 * every failed probe. Deliveries that wait lose no attempts.
 */
export class CircuitBreakers {
  private readonly breakers = new Map<string, Breaker>();

  constructor(private readonly monotonicMs: () => number) {}

  /** Milliseconds until the bot's receiver may be called: 0 for now, Infinity during a probe. */
  waitMs(botId: string): number {
    const breaker = this.breakers.get(botId);
    if (breaker === undefined || breaker.failures < FAILURES_MAX) return 0;
    if (breaker.probing) return Infinity;
    return Math.max(0, breaker.openUntilMs - this.monotonicMs());
  }

  /** Ends the pause, so that the next call is a probe; for calls asked for by hand. */
  probeNow(botId: string): void {
    const breaker = this.breakers.get(botId);
    if (breaker !== undefined) breaker.openUntilMs = this.monotonicMs();
  }

  /** Notes the begin of a call; true when it is a probe. */
  begin(botId: string): boolean {
    const breaker = this.breakers.get(botId);
    if (breaker === undefined || breaker.failures < FAILURES_MAX) return false;
    return (breaker.probing = true);
  }

  /** Notes the end of a call without a result about the receiver. */
  abandon(botId: string): void {
    const breaker = this.breakers.get(botId);
    if (breaker !== undefined) breaker.probing = false;
  }

  /** Notes an answer of the receiver; true when calls were paused until now. */
  succeed(botId: string): boolean {
    const spared = (this.breakers.get(botId)?.failures ?? 0) >= FAILURES_MAX;
    this.breakers.delete(botId);
    return spared;
  }

  fail(botId: string): void {
    const breaker = this.breakers.get(botId) ?? { failures: 0, pauseMs: 0, openUntilMs: 0, probing: false };
    this.breakers.set(botId, breaker);
    breaker.failures++;
    // Calls that began before the pause do not prolong it.
    const concerns = breaker.probing || breaker.failures === FAILURES_MAX;
    breaker.probing = false;
    if (!concerns) return;
    breaker.pauseMs =
      breaker.pauseMs === 0 ? FIRST_PAUSE_MS : Math.min(breaker.pauseMs * 2, LONGEST_PAUSE_MS);
    breaker.openUntilMs = this.monotonicMs() + breaker.pauseMs;
  }

  /** Notes the result of a call; true when the receiver works again after a pause. */
  learn(botId: string, { outcome, status }: CallResult): boolean {
    if (outcome === 'interrupted') this.abandon(botId);
    // A receiver that refuses one event works: the other deliveries need not wait.
    else if (outcome === 'refused' && status !== undefined && status < 500 && status !== 429)
      return this.succeed(botId);
    else if (outcome === 'confirmed' || outcome === 'gone') return this.succeed(botId);
    else this.fail(botId);
    return false;
  }

  /** Discards the state of a bot whose URL has changed. */
  forget(botId: string): void {
    this.breakers.delete(botId);
  }

  /** Discards the state of bots without deliveries to send. */
  retain(isKept: (botId: string) => boolean): void {
    for (const botId of this.breakers.keys()) if (!isKept(botId)) this.breakers.delete(botId);
  }
}
