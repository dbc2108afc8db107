import type { FakeBot, Held } from './fake-bot';
import type { Category } from './fake-categories';
import type { Json } from './fake-consent';
import { idsOf } from './fake-ids';
import { FakeRefusal, invalid } from './fake-refusal';

type Kind = 'objection' | 'restriction';

/** In the place of a key: all categories. No category has this key. */
const ALL = '';
const WORDS: Readonly<Record<Kind, string>> = {
  objection: 'The user has objected to the processing of this category',
  restriction: 'The user has restricted the processing',
};

/** What one user has objected to and restricted in one guild, with the time of each. */
export class FakeProcessing {
  private readonly since = { objection: new Map<string, string>(), restriction: new Map<string, string>() };

  /** Whether it is new. */
  put(kind: Kind, key: string, at: string): boolean {
    const isNew = !this.since[kind].has(key);
    if (isNew) this.since[kind].set(key, at);
    return isNew;
  }

  /** Ends the restriction of a category; with {@link ALL} every one. Whether there was any. */
  end(key: string): boolean {
    const { restriction } = this.since;
    if (key !== ALL) return restriction.delete(key);
    const wasAny = restriction.size > 0;
    restriction.clear();
    return wasAny;
  }

  get isAny(): boolean {
    return this.since.objection.size + this.since.restriction.size > 0;
  }

  /** Whether the bot may not read a category; without a key, whether it may read none. */
  isRestricted(key = ALL): boolean {
    return this.since.restriction.has(ALL) || this.since.restriction.has(key);
  }

  /** @throws FakeRefusal 403 `processing_refused` for a category that nothing may be stored under */
  requireStorable({ key, ...declared }: Category): void {
    const { objection } = this.since;
    if (objection.has(key) || (objection.has(ALL) && isObjectable(declared))) refuse('objection');
    this.requireReadable(key);
  }

  /** @throws FakeRefusal 403 `processing_refused` for what {@link isRestricted} */
  requireReadable(key?: string): void {
    if (this.isRestricted(key)) refuse('restriction');
  }

  get view(): Json {
    const shown = (kind: Kind): Json[] =>
      [...this.since[kind]]
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([key, since]) => ({ category: key === ALL ? null : key, since }));
    return { objections: shown('objection'), restrictions: shown('restriction') };
  }
}

/** `POST /data/object`. @throws FakeRefusal 404 for a category that is not declared, 409 for one of another legal basis */
export function object(bot: FakeBot, given: Json): Json {
  const { held, key } = named(bot, given);
  const { categories } = bot;
  const wanted = key === ALL ? categories.all.filter(isObjectable) : [categories.named(key)];
  const other = wanted.find((category) => !isObjectable(category));
  if (other !== undefined)
    throw new FakeRefusal('conflict', 'A user cannot object to a category of this legal basis', {
      reason: 'not_objectable',
      legal_basis: other['legal_basis'],
    });
  const erased = wanted.filter((category) => held.values.delete(category.key)).map((one) => one.key);
  const isNew = held.processing.put('objection', key, bot.nowIso);
  const about = key === ALL ? erased.length > 0 && { categories: erased.sort() } : { category: key };
  if (isNew || erased.length > 0) bot.note('data_deleted', held.ids, { act: 'objection', ...about });
  return viewOf(held);
}

/** `POST /data/restrict`. @throws FakeRefusal 404 for a category that is not declared */
export function restrict(bot: FakeBot, given: Json): Json {
  const { held, key } = named(bot, given);
  if (held.processing.put('restriction', key, bot.nowIso))
    bot.note('consent_revoked', held.ids, { act: 'restriction', ...(key !== ALL && { category: key }) });
  return viewOf(held);
}

/** `POST /data/unrestrict`. @throws FakeRefusal 404 for a category that is not declared */
export function unrestrict(bot: FakeBot, given: Json): Json {
  const { held, key } = named(bot, given);
  if (held.processing.end(key))
    bot.note('consent_accepted', held.ids, {
      act: 'restriction_ended',
      ...(key !== ALL && { category: key }),
    });
  return viewOf(held);
}

/** `GET /data/refusals/{user_id}`. */
export const refusals = (bot: FakeBot, given: Json): Json => viewOf(bot.held(idsOf(given)));

function named(bot: FakeBot, given: Json): { held: Held; key: string } {
  const ids = idsOf(given);
  const { category } = given;
  if (category === '') throw invalid('category', 'must be a text');
  return { held: bot.held(ids), key: category === undefined ? ALL : bot.categories.named(category).key };
}

const viewOf = ({ ids, processing }: Held): Json => ({ ...ids, ...processing.view });

const isObjectable = ({ legal_basis: basis }: Json): boolean =>
  basis === 'legitimate_interests' || basis === 'public_task';

function refuse(reason: Kind): never {
  throw new FakeRefusal('processing_refused', WORDS[reason], { reason });
}
