import type { FieldFault } from '../errors';
import { isDayOrTime } from '../times';
import type { FakeBot, Held } from './fake-bot';
import type { Json } from './fake-consent';
import { idsOf } from './fake-ids';

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
    if (value === null || CHECKS[type]?.(value) === true) return [];
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
