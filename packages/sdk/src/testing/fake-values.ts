import type { FieldFault } from '../errors';
import { isDayOrTime } from '../times';
import type { Json } from './fake-consent';

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
