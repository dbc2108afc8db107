import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { UnitOfWork } from '@app/database';
import { Caller } from '@app/http';
import { Clock, CONFIG, type Config } from '@app/kernel';
import { isApiKey, keyDigest } from './api-key';

/** Most callers kept in memory. */
const CACHED_MAX = 10_000;
/** Timers may fire a little early. */
const MARGIN_MS = 50;

/** Times that must be equal in all processes on one database. */
@Injectable()
export class ApiKeyTimes {
  /** How long a process trusts a key it has read. A deletion waits as long before its answer. In milliseconds. */
  believedMs = 1_000;
}

/** A caller, trusted until `untilMs` in monotonic milliseconds. */
export interface KnownCaller {
  readonly caller: Caller;
  readonly untilMs: number;
  /** The number of deletions of keys at the time of the look-up. */
  readonly generation: number;
}

/**
 * Finds the bot of a key, from memory if possible. In this process a deleted key is refused from the commit that deletes
 * it: `forget` runs between that commit and its answer, and discards look-ups in progress. Other processes refuse the key
 * once {@link forgottenEverywhere} has resolved.
 */
@Injectable()
export class ApiKeyDirectory {
  private readonly callers = new Map<string, KnownCaller>();
  private generation = 0;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    private readonly times: ApiKeyTimes,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  private get believedMs(): number {
    // A SQLite file has one process.
    return this.config.database.engine === 'sqlite' ? Infinity : this.times.believedMs;
  }

  /** The bot that owns `key`; undefined when the key is unknown. */
  identify(key: string): KnownCaller | undefined | Promise<KnownCaller | undefined> {
    const digest = keyDigest(key);
    const known = this.callers.get(digest);
    if (known !== undefined && this.isCurrent(known)) return known;
    return isApiKey(key) ? this.lookUp(digest) : undefined;
  }

  /** Whether an earlier look-up of a caller is still valid. */
  isCurrent({ generation, untilMs }: KnownCaller): boolean {
    return generation === this.generation && (untilMs === Infinity || untilMs > this.clock.monotonicMs());
  }

  /** Discards all earlier look-ups. Call it after the commit that deleted keys. */
  forget(): void {
    this.generation++;
    this.callers.clear();
  }

  /** Resolves when no other process can trust a key that it read before the call. */
  async forgottenEverywhere(): Promise<void> {
    if (this.believedMs !== Infinity) await pause(this.believedMs + MARGIN_MS);
  }

  private async lookUp(digest: string): Promise<KnownCaller | undefined> {
    const { generation } = this;
    const untilMs = this.clock.monotonicMs() + this.believedMs;
    const found = await this.unitOfWork.get<{ id: string; platform_bot_id: string }>(
      'SELECT bots.id, bots.platform_bot_id FROM api_keys JOIN bots ON bots.id = api_keys.bot_id WHERE api_keys.digest = ?',
      digest,
    );
    if (found === undefined) {
      this.callers.delete(digest);
      return undefined;
    }
    const caller = new Caller(found.id, found.platform_bot_id, this.limitOf(found.platform_bot_id));
    const known = { caller, untilMs, generation };
    if (this.isCurrent(known)) {
      if (this.callers.size >= CACHED_MAX) this.callers.clear();
      this.callers.set(digest, known);
    }
    return known;
  }

  private limitOf(platformBotId: string): number {
    const { tiers, botTiers } = this.config;
    return tiers.get(botTiers.get(platformBotId) ?? 'free') ?? 0;
  }
}
