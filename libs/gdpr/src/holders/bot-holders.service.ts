import { Injectable } from '@nestjs/common';
import { type BotFacts, findBot, lockBot } from '@app/bots';
import { Cursors } from '@app/crypto';
import { asPartlyDone, botDeleted, type Tx, UnitOfWork } from '@app/database';
import type { PageQuery } from '@app/http';
import { Acts, type Claim } from '@app/acts';
import { Clock, conflict, notFound } from '@app/kernel';
import { BotHolder, type HolderKind } from './bot-holder.entity';
import {
  countedHolder,
  type CountedHolder,
  countedHolders,
  countHolders,
  requireHolder,
} from './bot-holders.sql';
import { removeSomeOf } from './holder-exports.sql';
import { abandonSome, tasksBehind } from './holder-tasks.sql';
import type { ChangeHolder, HolderDeletedView, HoldersView, HolderView, RegisterHolder } from './holders.dto';

const HOLDERS_MAX = 20;

/** The holders of a bot: its own stores, each of which gets a task for every erasure that is completed from then on. */
@Injectable()
export class BotHoldersService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly acts: Acts,
    private readonly clock: Clock,
    private readonly cursors: Cursors,
  ) {}

  /**
   * Every erasure that is completed after this has resolved makes a task for the holder.
   * @throws ApiError 409 `holder_exists`, `limit_reached`, or `no_webhook_url`: a holder of the kind `webhook` needs one to be called
   */
  register(botId: string, input: RegisterHolder, claim: Claim): Promise<HolderView> {
    const register = async (tx: Tx): Promise<HolderView> => {
      const bot = await this.lockBot(tx, botId);
      if ((await countedHolder(tx, botId, input.key)) !== undefined)
        throw conflict('holder_exists', 'A holder with this key is registered already');
      if ((await countHolders(tx, botId)) >= HOLDERS_MAX)
        throw conflict('limit_reached', `A bot may have at most ${HOLDERS_MAX} holders`, {
          limit: HOLDERS_MAX,
        });
      requireUrl(input.kind, bot);
      const now = this.clock.nowIso();
      await tx.manager.insert(BotHolder, {
        botId,
        key: input.key,
        kind: input.kind,
        covers: input.covers,
        labelDe: input.label_de,
        labelEn: input.label_en,
        publicKey: input.public_key ?? null,
        createdAt: now,
        updatedAt: now,
      });
      return viewOf(await this.require(tx, botId, input.key));
    };
    const again = async (tx: Tx): Promise<HolderView | undefined> => {
      const found = await countedHolder(tx, botId, input.key);
      return found && viewOf(found);
    };
    return this.acts.once(claim, register, { again });
  }

  /** One page, in the order of the keys. */
  list(botId: string, query: PageQuery): Promise<HoldersView> {
    const page = this.cursors.page<[key: string]>(botId, 'holders', query);
    return this.unitOfWork.read(async (tx) => {
      const [after = ''] = page.after ?? [];
      const found = await countedHolders(tx, botId, after, page.limit, page.offset);
      const holders = page.cut(found, ({ key }) => [key]).map(viewOf);
      return { holders, pagination: page.of(await page.total(() => countHolders(tx, botId))) };
    });
  }

  /** @throws ApiError 404 */
  view(botId: string, key: string): Promise<HolderView> {
    return this.unitOfWork.read(async (tx) => viewOf(await this.require(tx, botId, key)));
  }

  /**
   * Changes the given parts. What was answered before stays as it was declared then.
   * @throws ApiError 404; 409 `no_webhook_url`
   */
  change(botId: string, key: string, input: ChangeHolder): Promise<HolderView> {
    return this.unitOfWork.write(async (tx) => {
      const holder = await requireHolder(tx, botId, key, 'FOR UPDATE');
      if (input.kind === 'webhook') requireUrl(input.kind, await findBot(tx, botId));
      await tx.manager.update(
        BotHolder,
        { botId, key },
        {
          kind: input.kind ?? holder.kind,
          covers: input.covers ?? holder.covers,
          labelDe: input.label_de ?? holder.labelDe,
          labelEn: input.label_en ?? holder.labelEn,
          publicKey: input.public_key === undefined ? holder.publicKey : input.public_key,
          updatedAt: this.clock.nowIso(),
        },
      );
      return viewOf(await this.require(tx, botId, key));
    });
  }

  /**
   * Deletes a holder. Answered tasks stay with their erasures. Its open tasks are abandoned in parts, what it was asked and has
   * stated for exports is removed in parts, and the holder is deleted with the last part. Once a part is committed nothing refuses the
   * others, since it cannot be taken back: tasks of erasures that are completed between two parts are abandoned.
   * @throws ApiError 404; 409 `holder_has_open_tasks` unless they are to be abandoned
   */
  async delete(botId: string, key: string, abandon: boolean): Promise<HolderDeletedView> {
    let abandoned = 0;
    for (let isBegun = false; ; isBegun = true) {
      const done = await this.unitOfWork
        .write((tx) => this.deleteSome(tx, botId, key, abandon || isBegun))
        .catch((error: unknown) => {
          throw isBegun ? asPartlyDone(error) : error;
        });
      abandoned += done.abandoned;
      if (done.isDeleted) return { key, deleted: true, abandoned };
    }
  }

  private async deleteSome(
    tx: Tx,
    botId: string,
    key: string,
    abandon: boolean,
  ): Promise<{ readonly abandoned: number; readonly isDeleted: boolean }> {
    await this.lockBot(tx, botId);
    const holder = await requireHolder(tx, botId, key, 'FOR UPDATE');
    if (!abandon && (await tasksBehind(tx, 'open', botId, key, ['', ''], 1)).length > 0)
      throw conflict(
        'holder_has_open_tasks',
        'The holder has open tasks: answer them first, or send abandon=true to give them up',
      );
    const abandoned = abandon ? await abandonSome(tx, holder, this.clock.nowIso()) : 0;
    const isDeleted = abandoned === 0 && (await removeSomeOf(tx, botId, key)) === 0;
    if (isDeleted) await tx.manager.delete(BotHolder, { botId, key });
    return { abandoned, isDeleted };
  }

  /**
   * Waits for the units that complete erasures of the bot, and excludes further ones until this unit ends: each has made its tasks
   * for the holders before, or makes them for those after it. @throws ApiError 401
   */
  private async lockBot(tx: Tx, botId: string): Promise<BotFacts> {
    const bot = await lockBot(tx, botId, 'UPDATE');
    if (bot === undefined) throw botDeleted();
    return bot;
  }

  private async require(tx: Tx, botId: string, key: string): Promise<CountedHolder> {
    const found = await countedHolder(tx, botId, key);
    if (found === undefined) throw notFound('Holder');
    return found;
  }
}

/** A URL that is removed later leaves the holder: its tasks wait in its list, and a new URL sends the calls. */
function requireUrl(kind: HolderKind, bot: BotFacts | undefined): void {
  if (kind === 'webhook' && bot?.webhook_url == null)
    throw conflict(
      'no_webhook_url',
      'A holder of the kind webhook is called at the webhook_url of the bot, which has none: set one with PUT /bots/{bot_id}, or use the kind pull',
    );
}

function viewOf(holder: CountedHolder): HolderView {
  return {
    key: holder.key,
    kind: holder.kind,
    covers: holder.covers,
    label_de: holder.labelDe,
    label_en: holder.labelEn,
    public_key: holder.publicKey,
    open_tasks: holder.openTasks,
    oldest_open_at: holder.oldestOpenAt,
    created_at: holder.createdAt,
    updated_at: holder.updatedAt,
  };
}
