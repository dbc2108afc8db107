import { setImmediate as nextTurn } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { BotAdministration, countAllBots, type OperatedBot } from '@app/bots';
import { countSubjectsOf, Cursors } from '@app/crypto';
import { type Tx, UnitOfWork } from '@app/database';
import { ListPage, type PageQuery } from '@app/http';
import { type Config, CONFIG, invalidRequest, LOGGER, NO_TIER, notFound } from '@app/kernel';
import { countValuesOf } from '@app/user-data';
import { COUNTED_MAX, type OperatedBotView } from './operator.dto';
import { OperatorStatus } from './operator-status.service';
import type { Logger } from 'pino';

/** The bots of the installation as the operator sees them, with their sizes and without a word about a user. */
@Injectable()
export class OperatedBots {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly bots: BotAdministration,
    private readonly cursors: Cursors,
    private readonly status: OperatorStatus,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async list(query: PageQuery): Promise<ListPage> {
    const page = this.cursors.page<[id: string]>('operator', 'bots', query);
    const { total, found } = await this.unitOfWork.read(async (tx) => {
      const [after = ''] = page.after ?? [];
      const rows = await this.bots.some(tx, after, page.offset, page.limit);
      return { found: page.cut(rows, ({ id }) => [id]), total: await page.total(() => countAllBots(tx)) };
    });
    const views: OperatedBotView[] = [];
    // Each in a unit and, since SQLite reads without one, in a turn of its own, so that others are not delayed.
    for (const bot of found) {
      views.push(await this.unitOfWork.snapshot((tx) => sized(tx, bot)));
      await nextTurn();
    }
    return new ListPage('bots', views, page.of(total));
  }

  /** @throws ApiError 404 for an unknown bot and one that is being deleted */
  async suspend(id: string): Promise<OperatedBotView> {
    const { isChanged } = await this.bots.suspend(id);
    return this.after(id, isChanged, 'The operator has suspended a bot');
  }

  /** @throws ApiError 404 as {@link suspend} */
  async resume(id: string): Promise<OperatedBotView> {
    const { isChanged } = await this.bots.resume(id);
    return this.after(id, isChanged, 'The operator has ended the suspension of a bot');
  }

  /**
   * Gives a bot a tier; `default` removes it, so that the settings decide.
   * @throws ApiError 400 for a tier that the settings do not name; 404 as {@link suspend}
   */
  async setTier(id: string, tier: string): Promise<OperatedBotView> {
    if (tier !== NO_TIER && !this.config.tiers.has(tier)) {
      const names = [...this.config.tiers.keys(), NO_TIER].join(', ');
      throw invalidRequest([{ field: 'tier', message: `must be one of ${names}` }]);
    }
    const { isChanged } = await this.bots.setTier(id, tier === NO_TIER ? null : tier);
    return this.after(id, isChanged, 'The operator has changed the tier of a bot');
  }

  /** A repeat is logged too: the first call may have been answered 503 after its commit. */
  private async after(given: string, isChanged: boolean, done: string): Promise<OperatedBotView> {
    const botId = given.toLowerCase();
    this.status.forget();
    this.logger.info({ botId, isChanged }, done);
    return this.unitOfWork.snapshot(async (tx) => {
      const bot = await this.bots.one(tx, botId);
      if (bot === undefined) throw notFound('Bot');
      return sized(tx, bot);
    });
  }
}

async function sized(tx: Tx, bot: OperatedBot): Promise<OperatedBotView> {
  const { id, platform_bot_id, name, tier, stored_tier, created_at, suspended_at, last_used_at } = bot;
  const state = suspended_at === null ? 'active' : 'suspended';
  return {
    id,
    platform_bot_id,
    name,
    state: bot.deleted_at === null ? state : 'deleting',
    suspended_at,
    tier,
    stored_tier,
    subjects: await countSubjectsOf(tx, id, COUNTED_MAX),
    values: await countValuesOf(tx, id, COUNTED_MAX),
    created_at,
    last_used_at,
  };
}
