import { Injectable } from '@nestjs/common';
import { eachOf, type Tx, UnitOfWork } from '@app/database';
import { Clock, notFound, Random } from '@app/kernel';
import { keyDigest, newApiKey, visiblePrefix } from './api-key';
import { ApiKeyDirectory } from './api-key-directory';
import { BotDeletion } from './bot-deletion.service';
import { lockBot } from './bot-queries';
import { ApiKey } from './bot.entity';

/** Bots of one read. */
const BATCH = 500;

/** A bot as the operator sees it. */
export interface BotLine {
  readonly id: string;
  readonly platform_bot_id: string;
  readonly name: string;
  readonly created_at: string;
  /** When its deletion began; null for a bot that is not being deleted. */
  readonly deleted_at: string | null;
}

/** What the operator of an installation can do with any bot, without its key. */
@Injectable()
export class BotAdministration {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly keys: ApiKeyDirectory,
    private readonly deletion: BotDeletion,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /** Every bot, in the order of ids. */
  all(): AsyncIterable<BotLine> {
    const columns = 'id, platform_bot_id, name, created_at, deleted_at';
    return eachOf<BotLine>(BATCH, (after) =>
      this.unitOfWork.read((tx) =>
        tx.all(`SELECT ${columns} FROM bots WHERE id > ? ORDER BY id LIMIT ${BATCH}`, after?.id ?? ''),
      ),
    );
  }

  /**
   * Voids every key of a bot and answers a new one, which is shown only here. Resolves when no process accepts an old key.
   * @param given the id of the bot, or its id on the platform
   * @throws ApiError 404 for an unknown bot and one that is being deleted
   */
  async newKey(given: string): Promise<{ readonly bot: BotLine; readonly key: string }> {
    const key = newApiKey(this.random);
    const bot = await this.unitOfWork.write(async (tx) => {
      const found = await find(tx, given);
      await lockBot(tx, found.id, 'UPDATE');
      await tx.manager.delete(ApiKey, { botId: found.id });
      await tx.manager.insert(ApiKey, {
        botId: found.id,
        id: this.random.uuid(),
        digest: keyDigest(key),
        prefix: visiblePrefix(key),
        createdAt: this.clock.nowIso(),
      });
      tx.afterCommit(() => this.keys.forget());
      return found;
    });
    await this.keys.forgottenEverywhere();
    return { bot, key };
  }

  /**
   * {@link BotDeletion.delete} of any bot.
   * @param given the id of the bot, or its id on the platform
   * @throws ApiError 404 for an unknown bot and one that is being deleted; 503 as the deletion
   */
  async delete(given: string): Promise<BotLine> {
    const bot = await this.unitOfWork.read((tx) => find(tx, given));
    await this.deletion.delete(bot.id);
    return bot;
  }
}

async function find(tx: Tx, given: string): Promise<BotLine> {
  const bot = await tx.get<BotLine>(
    `SELECT id, platform_bot_id, name, created_at, deleted_at FROM bots
     WHERE (id = ? OR platform_bot_id = ?) AND deleted_at IS NULL`,
    ...[given.toLowerCase(), given],
  );
  if (bot === undefined) throw notFound(`The bot ${given}`);
  return bot;
}
