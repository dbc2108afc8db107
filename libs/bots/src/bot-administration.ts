import { Injectable } from '@nestjs/common';
import { eachOf, type Tx, UnitOfWork } from '@app/database';
import { Clock, DomainEvents, notFound } from '@app/kernel';
import { ApiKeyDirectory } from './api-key-directory';
import { ApiKeys } from './api-keys.service';
import { BotDeletion } from './bot-deletion.service';
import { lockBot } from './bot-queries';
import { ApiKey } from './bot.entity';
import { Tiers } from './tiers';

/** The operator has ended the suspension of a bot. */
export class BotResumed {
  constructor(
    readonly tx: Tx,
    readonly botId: string,
  ) {}
}

/** Bots of one read. */
const BATCH = 500;

const COLUMNS = 'id, platform_bot_id, name, created_at, deleted_at, suspended_at, tier';

interface BotRow {
  readonly id: string;
  readonly platform_bot_id: string;
  readonly name: string;
  readonly created_at: string;
  /** When its deletion began; null for a bot that is not being deleted. */
  readonly deleted_at: string | null;
  /** Since when it is suspended; null for a bot that is not. */
  readonly suspended_at: string | null;
  readonly tier: string | null;
}

/** A bot as the operator sees it. `tier` is the one in force, `stored_tier` the one that the operator gave the bot. */
interface BotLine extends BotRow {
  readonly tier: string;
  readonly stored_tier: string | null;
}

/** A bot after an act that may be a repeat, which changes nothing. */
interface ChangedBot extends BotRow {
  readonly isChanged: boolean;
}

/** A bot in the list of the operator, with the last use of its keys, which is stored up to a minute late. */
export interface OperatedBot extends BotLine {
  readonly last_used_at: string | null;
}

const OPERATED = `SELECT ${COLUMNS},
    (SELECT MAX(last_used_at) FROM api_keys WHERE api_keys.bot_id = bots.id) AS last_used_at FROM bots`;

/** What the operator of an installation can do with any bot, without its key. A bot is named by either of its ids. */
@Injectable()
export class BotAdministration {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly directory: ApiKeyDirectory,
    private readonly keys: ApiKeys,
    private readonly deletion: BotDeletion,
    private readonly tiers: Tiers,
    private readonly clock: Clock,
    private readonly events: DomainEvents,
  ) {}

  /** Every bot, in the order of ids. */
  async *all(): AsyncGenerator<BotLine> {
    const rows = eachOf<BotRow>(BATCH, (after) =>
      this.unitOfWork.read((tx) =>
        tx.all(`SELECT ${COLUMNS} FROM bots WHERE id > ? ORDER BY id LIMIT ${BATCH}`, after?.id ?? ''),
      ),
    );
    for await (const row of rows) yield this.lined(row);
  }

  /** Some bots after an id in the order of ids, those that are being deleted too. */
  async some(tx: Tx, after: string, offset: number, limit: number): Promise<OperatedBot[]> {
    const sql = `${OPERATED} WHERE id > ? ORDER BY id LIMIT ? OFFSET ?`;
    return (await tx.all<OperatedBot>(sql, after, limit, offset)).map((row) => this.lined(row));
  }

  /** One bot; undefined for an unknown id. */
  async one(tx: Tx, id: string): Promise<OperatedBot | undefined> {
    const row = await tx.get<OperatedBot>(`${OPERATED} WHERE id = ?`, id);
    return row && this.lined(row);
  }

  private lined<Row extends BotRow>(row: Row): Row & BotLine {
    return { ...row, tier: this.tiers.of(row), stored_tier: row.tier };
  }

  /**
   * Voids every key of a bot and returns a new one, which is shown only here. Resolves when no process accepts an old key.
   * @throws ApiError 404 for an unknown bot and one that is being deleted
   */
  async newKey(given: string): Promise<{ readonly bot: BotRow; readonly key: string }> {
    return this.change(given, async (tx, bot) => {
      await tx.manager.delete(ApiKey, { botId: bot.id });
      return { bot, key: (await this.keys.issue(tx, bot.id)).api_key };
    });
  }

  /**
   * Suspends a bot: until {@link resume} it can read, erase and do what else serves its users (docs/operate.md has the list), and its
   * webhook calls wait. Resolves when this holds in every process. A repeat changes nothing.
   * @throws ApiError 404 as {@link newKey}
   */
  suspend(given: string): Promise<ChangedBot> {
    return this.change(given, async (tx, bot) => {
      const sql = 'UPDATE bots SET suspended_at = ? WHERE id = ? AND suspended_at IS NULL';
      return { ...bot, isChanged: (await tx.run(sql, this.clock.confirmedIso(), bot.id)) > 0 };
    });
  }

  /** Ends a suspension. The webhook calls that waited are due at once, and their schedule of attempts begins again. */
  resume(given: string): Promise<ChangedBot> {
    return this.change(given, async (tx, bot) => {
      const sql =
        'UPDATE bots SET suspended_at = NULL, resumed_at = ? WHERE id = ? AND suspended_at IS NOT NULL';
      const ended = await tx.run(sql, this.clock.confirmedIso(), bot.id);
      if (ended > 0) await this.events.publish(new BotResumed(tx, bot.id));
      return { ...bot, isChanged: ended > 0 };
    });
  }

  /**
   * Stores the tier of a bot; null removes it, so that the settings decide.
   * @throws ApiError 404 as {@link newKey}; StartError for an unknown tier
   */
  async setTier(given: string, tier: string | null): Promise<ChangedBot & { readonly tier: string }> {
    if (tier !== null) this.tiers.require(tier);
    return this.change(given, async (tx, bot) => {
      await tx.run('UPDATE bots SET tier = ? WHERE id = ?', tier, bot.id);
      return { ...bot, isChanged: tier !== bot.tier, tier: this.tiers.of({ ...bot, tier }) };
    });
  }

  /**
   * {@link BotDeletion.delete} of any bot.
   * @throws ApiError 404 as {@link newKey}; 503 as the deletion
   */
  async delete(given: string): Promise<BotRow> {
    const bot = await this.unitOfWork.read((tx) => find(tx, given));
    await this.deletion.delete(bot.id);
    return bot;
  }

  /** Changes a bot that no other unit changes meanwhile. Resolves when every process reads the change. */
  private async change<T>(given: string, work: (tx: Tx, bot: BotRow) => Promise<T>): Promise<T> {
    const result = await this.unitOfWork.write(async (tx) => {
      const { id } = await find(tx, given);
      await lockBot(tx, id, 'UPDATE');
      // Its deletion may have begun before the lock.
      const bot = await find(tx, id);
      tx.afterCommit(() => this.directory.forget(bot.id));
      return work(tx, bot);
    });
    await this.directory.forgottenEverywhere();
    return result;
  }
}

async function find(tx: Tx, given: string): Promise<BotRow> {
  const bot = await tx.get<BotRow>(
    `SELECT ${COLUMNS} FROM bots WHERE (id = ? OR platform_bot_id = ?) AND deleted_at IS NULL`,
    ...[given.toLowerCase(), given],
  );
  if (bot === undefined) throw notFound(`The bot ${given}`);
  return bot;
}
