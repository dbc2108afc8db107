import { LetheError } from '@lethe/sdk';
import {
  compareGuilds,
  type Get,
  type GuildOptions,
  guildJoined,
  guildLeft,
  OtherBotError,
  type Reconciled,
  sameBot,
} from './guilds';

const DAY_MS = 86_400_000;
const PAUSE_MS = 5_000;
const PAUSE_MAX_MS = 600_000;
/** Of the guilds whose event waits for the service. One that is dropped is found by the next comparison. */
export const WAITING_GUILDS_MAX = 1_000;
/** Statuses that a repeat cannot change: the request, the key or its scope is at fault. */
const FINAL = [400, 401, 403];
const isFinal = (error: unknown): boolean =>
  error instanceof OtherBotError || (error instanceof LetheError && FINAL.includes(error.status ?? 0));

interface Wish {
  readonly get: Get;
  readonly act: () => Promise<void>;
  cancel?: () => void;
}

/** A timer that keeps no process alive. */
const unrefLater = (ms: number, run: () => void): (() => void) => {
  const timer: unknown = setTimeout(run, ms);
  // Only Node.js has it.
  (timer as { unref?: () => void }).unref?.();
  return () => clearTimeout(timer as number);
};

/** The pause after so many failures: 5 seconds, then twice as long each time, up to 10 minutes. */
const pauseMs = (failures: number): number => Math.min(PAUSE_MAX_MS, PAUSE_MS * 2 ** failures);

/**
 * Follows the guilds of a bot with a gateway. The last event of a guild is carried out: one that fails is tried again, with
 * growing pauses, until it succeeds, is refused for good or a newer one replaces it. The guilds are compared at the start and each day, and never
 * against an event that came meanwhile. Every failure is reported, and nothing rejects but `reconcile`.
 * Nothing is done where the key of Lethe is that of another bot.
 */
export class GuildWatch {
  private readonly options: GuildOptions;
  private readonly sameBot: (get: Get) => Promise<void>;
  /** The last event of each guild for which it is not carried out, the oldest first. */
  private readonly wishes = new Map<string, Wish>();
  /** The end of the last act for a guild: an act begins after the one before. */
  private readonly ends = new Map<string, Promise<unknown>>();
  /** For each comparison under way the guilds that had an event. */
  private readonly changed = new Set<Set<string>>();
  private readonly timers = new Set<() => void>();
  /** Aborted at the end, and when the comparisons begin anew. */
  private run = new AbortController();

  constructor(
    given: GuildOptions,
    private readonly report: (error: unknown) => void,
  ) {
    const { later = unrefLater } = given;
    this.options = { ...given, later: (ms, run) => this.timer(later, ms, run) };
    this.sameBot = sameBot(this.options);
  }

  /** `get` reads Discord with the token of the bot that has joined. */
  joined(guildId: string, get: Get): void {
    this.wish(guildId, { get, act: () => guildJoined(this.options, guildId) });
  }

  left(guildId: string, get: Get): void {
    this.wish(guildId, { get, act: () => guildLeft(this.options, guildId) });
  }

  /**
   * Compares once. A guild with an event that waits, or that comes meanwhile, is left to it. {@link stop} and a new
   * {@link start} also end this comparison, which then returns what it has done.
   */
  async reconcile(get: Get): Promise<Reconciled> {
    const changed = new Set(this.wishes.keys());
    this.changed.add(changed);
    const { signal } = this.run;
    const unlessChanged = (guildId: string, act: () => Promise<void>): Promise<boolean> =>
      this.inTurn(guildId, async () => {
        if (signal.aborted || changed.has(guildId)) return false;
        await act();
        return true;
      });
    try {
      return await compareGuilds(this.options, get, unlessChanged, signal);
    } finally {
      this.changed.delete(changed);
    }
  }

  /** Compares now and each day, and after a failure again as events are tried again. */
  start(compare: () => Promise<unknown>): void {
    void this.compared(this.anew(), compare, 0);
  }

  /** Ends all timers, and a comparison under way. What waits is found by the comparison of the next start. */
  stop(): void {
    this.anew();
    this.wishes.clear();
    for (const cancel of this.timers) cancel();
    this.timers.clear();
  }

  private anew(): AbortSignal {
    this.run.abort();
    this.run = new AbortController();
    return this.run.signal;
  }

  private async compared(run: AbortSignal, compare: () => Promise<unknown>, failures: number): Promise<void> {
    let [nextMs, next] = [DAY_MS, 0];
    try {
      await compare();
    } catch (error) {
      this.report(error);
      [nextMs, next] = [pauseMs(failures), failures + 1];
    }
    if (run.aborted) return;
    this.options.later?.(nextMs, () => {
      if (!run.aborted) void this.compared(run, compare, next);
    });
  }

  private wish(guildId: string, wish: Wish): void {
    for (const guilds of this.changed) guilds.add(guildId);
    this.drop(guildId);
    const [oldest] = this.wishes.keys();
    if (oldest !== undefined && this.wishes.size >= WAITING_GUILDS_MAX) this.drop(oldest);
    this.wishes.set(guildId, wish);
    void this.attempt(guildId, wish, 0);
  }

  private drop(guildId: string): void {
    this.wishes.get(guildId)?.cancel?.();
    this.wishes.delete(guildId);
  }

  private async attempt(guildId: string, wish: Wish, failures: number): Promise<void> {
    const isLast = (): boolean => this.wishes.get(guildId) === wish;
    try {
      await this.sameBot(wish.get);
      await this.inTurn(guildId, async () => {
        if (isLast()) await wish.act();
      });
      if (isLast()) this.wishes.delete(guildId);
    } catch (error) {
      this.report(error);
      if (!isLast()) return;
      // The next comparison finds it.
      if (isFinal(error)) return this.drop(guildId);
      const again = (): void => void this.attempt(guildId, wish, failures + 1);
      const cancel = this.options.later?.(pauseMs(failures), again);
      if (cancel !== undefined) wish.cancel = cancel;
    }
  }

  private inTurn<T>(guildId: string, act: () => Promise<T>): Promise<T> {
    const done = (this.ends.get(guildId) ?? Promise.resolve()).then(act);
    const end = done.then(
      () => undefined,
      () => undefined,
    );
    this.ends.set(guildId, end);
    void end.then(() => {
      if (this.ends.get(guildId) === end) this.ends.delete(guildId);
    });
    return done;
  }

  private timer(later: NonNullable<GuildOptions['later']>, ms: number, run: () => void): () => void {
    const end = later(ms, () => {
      this.timers.delete(cancel);
      run();
    });
    const cancel = (): void => {
      this.timers.delete(cancel);
      end();
    };
    this.timers.add(cancel);
    return cancel;
  }
}
