import type { FieldFault } from '../errors';
import { isDayOrTime } from '../times';
import type { FakeBot, Held } from './fake-bot';
import type { Json } from './fake-consent';
import { idOf, idsOf } from './fake-ids';
import { FakeRefusal, isObject, isText, numberFaultsIn, requireAll } from './fake-refusal';

const CHECKS: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => Number.isFinite(value),
  boolean: (value) => typeof value === 'boolean',
  date: isDayOrTime,
  json: () => true,
};

/** What is wrong with values by the declared fields of their category. */
export function faultsOf(
  fields: readonly { readonly key: string; readonly type: string }[],
  data: Json,
): FieldFault[] {
  return Object.entries(data).flatMap(([key, value]) => {
    const type = fields.find((field) => field.key === key)?.type;
    if (type === undefined) return [{ field: `data.${key}`, message: 'is not a field of this category' }];
    if (value === null || CHECKS[type]?.(value) === true) return numberFaultsIn(value, `data.${key}`);
    return [{ field: `data.${key}`, message: `must be a ${type}` }];
  });
}

/** The stored values by their category. */
export const dataOf = (values: ReadonlyMap<string, { readonly data: Json }>): Json =>
  Object.fromEntries([...values].map(([key, { data }]) => [key, data]));

/** Whether a value is shown: under a consent, or without one where the category needs none, and not while it is restricted. */
export const mayRead = (
  { categories }: FakeBot,
  { consent, processing }: Pick<Held, 'consent' | 'processing'>,
  key: string,
): boolean => (consent.covers(key) || !categories.needsConsent(key)) && !processing.isRestricted(key);

/** `GET /data/values/{user_id}`: what may be read of a user. @throws FakeRefusal 403 and 404 */
export function valuesOf(bot: FakeBot, given: Json): Json {
  const ids = idsOf(given);
  const [{ consent, values, processing }, { category }] = [bot.held(ids), given];
  // What needs no consent is read without one.
  const isFree = (key: string): boolean => !bot.categories.needsConsent(key);
  const isAny = typeof category === 'string' ? isFree(category) : [...values.keys()].some(isFree);
  if (!isAny) consent.require();
  if (typeof category === 'string') bot.permitted(consent, category);
  processing.requireReadable(category as string | undefined);
  const shown = [...values]
    .filter(([key]) => mayRead(bot, { consent, processing }, key) && (category ?? key) === key)
    .sort();
  return {
    ...ids,
    values: Object.fromEntries(shown.map(([key, { data }]) => [key, data])),
    updated_at: Object.fromEntries(shown.map(([key, { updated_at }]) => [key, updated_at])),
  };
}

/** `GET /data/values`: what may be read of a category in a guild. @throws FakeRefusal 404 */
export function valuesOfGuild(bot: FakeBot, all: Iterable<Held>, { guild_id, category }: Json): Json[] {
  const guild = idOf({ guild_id }, 'guild_id');
  const { key } = bot.categories.named(category);
  return [...all].flatMap(({ ids, consent, values, processing }) => {
    const value = values.get(key);
    const isShown =
      ids.guild_id === guild && value !== undefined && mayRead(bot, { consent, processing }, key);
    return isShown ? [{ user_id: ids.user_id, ...value }] : [];
  });
}

/** `POST /data/submit`. What is left without a value is removed. @throws FakeRefusal 400, 403 and 404 */
export function submit(bot: FakeBot, given: Json): Json {
  const { category, data, mode = 'replace' } = given;
  const isMode = mode === 'replace' || mode === 'merge';
  requireAll(
    { field: 'category', isRight: isText(category, 100), message: 'must be a text' },
    { field: 'data', isRight: isObject(data), message: 'must be a JSON object' },
    { field: 'mode', isRight: isMode, message: 'must be one of replace, merge' },
  );
  const [ids, key, values] = [idsOf(given), String(category), data as Json];
  const held = bot.held(ids);
  const declared = bot.permitted(held.consent, key);
  held.processing.requireStorable(declared);
  const fields = faultsOf(declared.fields, values);
  if (fields.length > 0) throw new FakeRefusal('invalid_request', 'The request is malformed', { fields });
  const before = held.values.get(key)?.data ?? {};
  const found = mode === 'merge' ? (mergePatch(before, values) as Json) : values;
  const left = Object.entries(found).filter(([, value]) => value !== null);
  const updated_at = bot.nowIso;
  const isRemoved = left.length === 0 && held.values.delete(key);
  if (left.length > 0) held.values.set(key, { data: Object.fromEntries(left), updated_at });
  bot.note(isRemoved ? 'data_deleted' : 'data_submitted', ids, { category: key });
  return { ...ids, category: key, stored: true, updated_at };
}

/** RFC 7396. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch))
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), value));
  return Object.fromEntries(merged);
}
