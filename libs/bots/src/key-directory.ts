import { Inject, Injectable } from '@nestjs/common';
import { Caller, CONFIG, type Config } from '@app/common';
import { UnitOfWork } from '@app/database';
import { isApiKey, keyDigest } from './api-key';

/** Callers kept in memory at most. */
const CACHED_MAX = 10_000;

/**
 * Whose key it is, from memory where it was asked before. A deleted key is unknown from the commit that deletes it:
 * `forget` is called between that commit and its answer, and a look-up that was under way meanwhile is not kept.
 */
@Injectable()
export class KeyDirectory {
  private readonly callers = new Map<string, Caller>();
  private forgotten = 0;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Changes whenever a key is taken away: what was known before may not be true any more. */
  get generation(): number {
    return this.forgotten;
  }

  /** The bot that owns `key`, undefined when nobody does. */
  identify(key: string): Caller | undefined | Promise<Caller | undefined> {
    const digest = keyDigest(key);
    const known = this.callers.get(digest);
    return known ?? (isApiKey(key) ? this.lookUp(digest) : undefined);
  }

  /** Drops every key of a bot from memory; called after the commit that took them away. */
  forget(botId: string): void {
    this.forgotten++;
    for (const [digest, caller] of this.callers) if (caller.botId === botId) this.callers.delete(digest);
  }

  private async lookUp(digest: string): Promise<Caller | undefined> {
    const { generation } = this;
    const found = await this.unitOfWork.get<{ id: string; platform_bot_id: string }>(
      'SELECT bots.id, bots.platform_bot_id FROM api_keys JOIN bots ON bots.id = api_keys.bot_id WHERE api_keys.digest = ?',
      digest,
    );
    if (found === undefined) return undefined;
    const caller = new Caller(found.id, found.platform_bot_id, this.limitOf(found.platform_bot_id));
    if (generation === this.generation) {
      if (this.callers.size >= CACHED_MAX) this.callers.clear();
      this.callers.set(digest, caller);
    }
    return caller;
  }

  private limitOf(platformBotId: string): number {
    const { tiers, botTiers } = this.config;
    return tiers.get(botTiers.get(platformBotId) ?? 'free') ?? 0;
  }
}
