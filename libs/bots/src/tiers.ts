import { Inject, Injectable, Logger } from '@nestjs/common';
import { CONFIG, type Config, StartError } from '@app/kernel';

/** The tier of a bot to which nothing gives one. */
const DEFAULT_TIER = 'free';

/** What determines the tier of a bot. */
interface Tiered {
  readonly platform_bot_id: string;
  /** The tier that is stored with the bot. */
  readonly tier: string | null;
}

/**
 * The tier of a bot: the stored one, else the one of `RATE_LIMIT_BOT_TIERS`, else `free`. A stored tier that
 * `RATE_LIMIT_TIERS` does not name any more counts as none, with a warning.
 */
@Injectable()
export class Tiers {
  private readonly logger = new Logger('Bots');
  private readonly reported = new Set<string>();

  constructor(@Inject(CONFIG) private readonly config: Pick<Config, 'tiers' | 'botTiers'>) {}

  of({ platform_bot_id, tier }: Tiered): string {
    if (tier !== null && this.config.tiers.has(tier)) return tier;
    if (tier !== null) this.report(tier);
    return this.config.botTiers.get(platform_bot_id) ?? DEFAULT_TIER;
  }

  /** Requests per minute. */
  limitOf(bot: Tiered): number {
    return this.config.tiers.get(this.of(bot)) ?? 0;
  }

  /** @throws StartError for a tier that `RATE_LIMIT_TIERS` does not name. */
  require(tier: string): void {
    if (this.config.tiers.has(tier)) return;
    const names = [...this.config.tiers.keys()].join(', ');
    throw new StartError(`There is no tier ${tier}: RATE_LIMIT_TIERS names ${names}.`);
  }

  private report(tier: string): void {
    if (this.reported.has(tier)) return;
    this.reported.add(tier);
    this.logger.warn(
      `Bots have the stored tier ${tier}, which RATE_LIMIT_TIERS does not name: they have the tier of the settings`,
    );
  }
}
