import {
  type Get,
  GUILDS_A_MINUTE,
  guildJoined,
  isListed,
  MINUTE_MS,
  OtherBotError,
  sameBot,
} from '../guilds';
import type { PrivacyOptions } from '../privacy';

const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];
/** Of the guilds that are remembered. One that is dropped is registered once more. */
const GUILDS_MAX = 10_000;

/**
 * Registers the guilds in which the bot is used. Without a gateway no event says that the bot has joined one, and a guild
 * that it leaves before the next comparison is found by it only if the service knows it. Discord is asked first: one that has
 * the commands of the bot alone is never listed, and the next comparison would take it for one that the bot has left.
 */
export class GuildsInUse {
  /** When each was registered, the oldest first. */
  private readonly registered = new Map<string, number>();
  private readonly sameBot: (get: Get) => Promise<void>;
  private minute = { sinceMs: -Infinity, count: 0 };

  constructor(
    private readonly options: Pick<PrivacyOptions, 'lethe' | 'now'>,
    private readonly get: Get,
    private readonly report: (error: unknown) => void,
  ) {
    this.sameBot = sameBot(options);
  }

  /** Once a day for each guild, which also cancels a deletion of one that is in use. A failure is reported. It never rejects. */
  async used(guildId: string): Promise<void> {
    const { lethe, now = Date.now } = this.options;
    if (isWithin(DAY_MS, now() - (this.registered.get(guildId) ?? -Infinity))) return;
    // A later interaction takes it up.
    if (!this.hasRoom(now())) return;
    this.registered.delete(guildId);
    const [oldest] = this.registered.keys();
    if (oldest !== undefined && this.registered.size >= GUILDS_MAX) this.registered.delete(oldest);
    this.registered.set(guildId, now());
    try {
      await this.sameBot(this.get);
      if (await isListed(this.get, guildId)) await guildJoined({ lethe }, guildId);
      // The bot itself may be added later.
      else this.registered.set(guildId, now() - DAY_MS + HOUR_MS);
    } catch (error) {
      // The next interaction tries again, but for what no repeat changes.
      if (!(error instanceof OtherBotError)) this.registered.delete(guildId);
      this.report(error);
    }
  }

  /** After a start each guild is new here, and the members need the limit of the service too. */
  private hasRoom(nowMs: number): boolean {
    const { sinceMs, count } = this.minute;
    // By a clock that was set back the minute begins there, with its count.
    const isOver = nowMs - sinceMs >= MINUTE_MS;
    this.minute = isOver
      ? { sinceMs: nowMs, count: 1 }
      : { sinceMs: Math.min(sinceMs, nowMs), count: count + 1 };
    return this.minute.count <= GUILDS_A_MINUTE;
  }
}

/** By a clock that was set back a time would last longer: a negative age is over. */
const isWithin = (limitMs: number, ageMs: number): boolean => ageMs >= 0 && ageMs < limitMs;
