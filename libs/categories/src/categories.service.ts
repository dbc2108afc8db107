import { Inject, Injectable } from '@nestjs/common';
import { lockBot, touchNotice } from '@app/bots';
import { ConsentedDataHolders, Cursors, type ErasedParts, hasMore } from '@app/crypto';
import { asPartlyDone, eachOf, type Tx, UnitOfWork } from '@app/database';
import { type Acting, type Actor, ListPage, type PageQuery } from '@app/http';
import { Acts, type Claim } from '@app/acts';
import { Clock, type Config, CONFIG, conflict, Random, requireBytes } from '@app/kernel';
import { MoreThan } from 'typeorm';
import type { CategoryView, ChangeCategory } from './categories.dto';
import { changedField, dataField, requireCompatible, saysTheSame } from './category-declarations';
import { basisOf } from './category-basis';
import { categoriesOfPage, categoryView, countCategories, undeclared } from './category-queries';
import { Category } from './category.entity';
import { type CategoryInput, changedOptions, type Declared, declared } from './category-options';
import { type Turning, turnsOf } from './category-turns';

/** Rows that one holder removes in one unit at most, so that no other unit waits for a category of millions. */
const ERASED_AT_ONCE = 500;

/** Categories read at once when all of a bot are asked for. */
const AT_ONCE = 8;

/** The keys of categories in the order of their declaration; whether each needs a consent, and whether its deletion has begun. */
export type HeldKeys = ReadonlyMap<string, { readonly requires: boolean; readonly isEnding: boolean }>;

/** What the parts of a deletion by now have done, and the id of the category. */
interface Deletion {
  readonly id: string;
  readonly parts: ErasedParts;
}

/** The declared data categories of a bot. */
@Injectable()
export class CategoriesService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly acts: Acts,
    private readonly holders: ConsentedDataHolders,
    private readonly clock: Clock,
    private readonly random: Random,
    @Inject(CONFIG) private readonly config: Config,
    private readonly cursors: Cursors,
  ) {}

  /**
   * Declares all of `inputs` or none.
   * @throws ApiError 409 `category_exists` or `limit_reached`, 413, 400 as {@link declared}.
   */
  register(botId: string, inputs: readonly CategoryInput[], claim: Claim): Promise<CategoryView[]> {
    const all = declared(inputs);
    const register = async (tx: Tx): Promise<CategoryView[]> => {
      // Registrations of one bot wait for each other: whether a key is declared, and the count below, are exact.
      await lockBot(tx, botId, 'NO KEY UPDATE');
      const views: CategoryView[] = [];
      for (const each of all) views.push(await this.insert(tx, botId, each));
      const limit = this.config.categoriesPerBot;
      if ((await countCategories(tx, botId)) > limit)
        throw conflict('limit_reached', `A bot may declare at most ${limit} categories`, { limit });
      return views;
    };
    // Declarations can be long, so the answer is not stored: a repeat gets the declarations as they are then.
    const again = async (tx: Tx): Promise<CategoryView[] | undefined> => {
      const views: CategoryView[] = [];
      for (const { key } of inputs) {
        const found = await this.find(tx, botId, key);
        if (found === null) return undefined;
        views.push(categoryView(found));
      }
      return views;
    };
    return this.acts.once(claim, register, { again });
  }

  /** One page, oldest first. */
  list(botId: string, query: PageQuery): Promise<ListPage> {
    const page = this.cursors.page<[id: string]>(botId, 'categories', query);
    return this.unitOfWork.read(async (tx) => {
      const total = await page.total(() => countCategories(tx, botId));
      return new ListPage('categories', await categoriesOfPage(tx, botId, page), page.of(total));
    });
  }

  view(botId: string, key: string): Promise<CategoryView> {
    return this.unitOfWork.read(async (tx) => categoryView(await this.require(tx, botId, key)));
  }

  /**
   * Changes the given parts. Fields can be added and relabelled, not removed or retyped, so that values stay readable. A change of
   * nothing that users are shown keeps the time of the declaration, by which receipts of earlier consents state it.
   */
  change(botId: string, key: string, input: ChangeCategory): Promise<CategoryView> {
    return this.unitOfWork.write(async (tx) => {
      // Each of these looks at what is stored and refused: no unit stores or objects beside it.
      const mayTurn = input.requires_consent != null || input.legal_basis != null;
      await lockCategory(tx, botId, key, mayTurn ? 'FOR UPDATE' : 'FOR NO KEY UPDATE');
      const category = await this.require(tx, botId, key);
      const options = changedOptions(input, category);
      if (input.fields != null) requireCompatible(category.fields, input.fields);
      await this.requireTurnable(tx, category, options);
      const changed: Category = {
        ...category,
        ...options,
        labelDe: input.label_de ?? category.labelDe,
        labelEn: input.label_en ?? category.labelEn,
        fields: input.fields?.map((one) => changedField(category.fields, one)) ?? category.fields,
      };
      const view = this.sized(categoryView(changed));
      const updatedAt = saysTheSame(category, changed)
        ? category.updatedAt
        : await this.holders.timeAfter(tx, botId, this.clock.nowIso());
      await tx.manager.update(Category, { botId, key }, { ...changed, updatedAt });
      return view;
    });
  }

  /** Deletes a category. Its values are deleted first, in parts; the last part with the declaration. */
  async delete({ botId, actor }: Acting, key: string): Promise<void> {
    const batch = (before?: Deletion) =>
      this.unitOfWork.write((tx) => this.deleteBatch(tx, botId, key, actor, before));
    let deletion = await batch();
    while (deletion !== undefined) {
      deletion = await batch(deletion).catch((error: unknown) => {
        throw asPartlyDone(error);
      });
    }
  }

  /** Every category of the bot, locked against deletion until the unit ends or only read; in the order of their declaration. */
  async keysOf(tx: Tx, botId: string, lock: 'FOR KEY SHARE' | ''): Promise<HeldKeys> {
    const rows = await tx.all<
      Record<'key' | 'id', string> & Record<'without_consent' | 'deleting_at', string | null>
    >(
      `SELECT key, id, without_consent, deleting_at FROM categories WHERE bot_id = ? ORDER BY key ${lock}`,
      botId,
    );
    const ordered = rows.sort((a, b) => (a.id < b.id ? -1 : 1));
    return new Map(
      ordered.map(({ key, without_consent: reasons, deleting_at: endingAt }) => [
        key,
        { requires: reasons === null, isEnding: endingAt !== null },
      ]),
    );
  }

  /** Every category of the bot in the order of their keys, some at a time: all of them may not fit into the memory. */
  each(tx: Tx, botId: string): AsyncGenerator<Category> {
    return eachOf(AT_ONCE, (after) => {
      const where = { botId, key: MoreThan(after?.key ?? '') };
      return tx.manager.find(Category, { where, order: { key: 'ASC' }, take: AT_ONCE });
    });
  }

  /**
   * No value without a consent is left where consents are needed, and none that no consent in force covers where they are not, or
   * where a consent becomes the basis: a withdrawal before that has left it without a time of erasure. None of a user who has objected
   * to everything is left where the basis becomes one that can be objected to.
   * @throws ApiError 409 `category_in_use`
   */
  private async requireTurnable(tx: Tx, before: Category, after: Turning): Promise<void> {
    for (const { holds, message } of turnsOf(before, after))
      if (await this.holders.holdsCategory(tx, before.botId, before.key, holds))
        throw conflict('category_in_use', message);
  }

  /**
   * One part: the first and the last one are of all holders, the others of those that have more. Unless all is done in one part, the first
   * one marks the category, so that no consent comes to name it behind the places that the parts have passed. Returns undefined after the
   * last part.
   */
  private async deleteBatch(
    tx: Tx,
    botId: string,
    key: string,
    by: Actor,
    before?: Deletion,
  ): Promise<Deletion | undefined> {
    await lockCategory(tx, botId, key);
    const found = await this.find(tx, botId, key);
    // Another call has ended this deletion meanwhile; the category may be registered again.
    if (before !== undefined && before.id !== found?.id) return undefined;
    const { id, deletingAt } = found ?? undeclared();
    const parts = await this.holders.eraseCategory(tx, botId, key, ERASED_AT_ONCE, by, before?.parts);
    if (hasMore(parts) || (before !== undefined && hasMore(before.parts))) {
      if (deletingAt === null)
        await tx.manager.update(Category, { botId, key }, { deletingAt: this.clock.nowIso() });
      return { id, parts };
    }
    await tx.manager.delete(Category, { botId, key });
    // No row that is left says when its notice changed.
    await touchNotice(tx, botId, this.clock.nowIso());
    return undefined;
  }

  /** @throws ApiError 404 for a category that is not declared. */
  async require(tx: Tx, botId: string, key: string): Promise<Category> {
    return (await this.find(tx, botId, key)) ?? undeclared();
  }

  find(tx: Tx, botId: string, key: string): Promise<Category | null> {
    return tx.manager.findOneBy(Category, { botId, key });
  }

  private async insert(tx: Tx, botId: string, { input, options }: Declared): Promise<CategoryView> {
    const now = await this.holders.timeAfter(tx, botId, this.clock.nowIso());
    const category: Category = {
      botId,
      key: input.key,
      id: this.random.uuid(),
      labelDe: input.label_de,
      labelEn: input.label_en,
      ...options,
      fields: input.fields.map(dataField),
      createdAt: now,
      updatedAt: now,
      deletingAt: null,
    };
    if ((await basisOf(tx, botId, input.key, 'FOR KEY SHARE')) !== undefined)
      throw conflict('category_exists', 'A category with this key is registered already');
    await tx.manager.insert(Category, category);
    return this.sized(categoryView(category));
  }

  private sized(view: CategoryView): CategoryView {
    requireBytes('A category', JSON.stringify(view), this.config.declarationLimitBytes);
    return view;
  }
}

/**
 * `FOR UPDATE`: no other unit stores under the category, or asks for consent to it, until this unit ends. A change takes
 * a weaker lock, for which only requests for a consent wait: values that were valid before it stay valid.
 */
async function lockCategory(
  tx: Tx,
  botId: string,
  key: string,
  lock: 'FOR UPDATE' | 'FOR NO KEY UPDATE' = 'FOR UPDATE',
): Promise<void> {
  await tx.get(`SELECT 1 FROM categories WHERE bot_id = ? AND key = ? ${lock}`, botId, key);
}
