import { addNumberFaults, numberFault } from '@app/http';
import { type FieldFault, isDayOrTime } from '@app/kernel';
import type { DataField, FieldType } from './category.entity';

/** The fault of a value, if any. Faults within a `json` value are found by a walk through it. */
const CHECKS: Readonly<Record<FieldType, (value: unknown) => string | undefined>> = {
  string: (value) => (typeof value === 'string' ? undefined : 'must be a string'),
  number: (value) => (typeof value === 'number' ? numberFault(value) : 'must be a number'),
  boolean: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
  date: (value) =>
    isDayOrTime(value) ? undefined : 'must be an ISO 8601 date or date-time, for example 2026-01-31',
  json: () => undefined,
};

/** The declared fields of one category, ready to check what is submitted under it. */
export class DeclaredValues {
  private readonly types: ReadonlyMap<string, FieldType>;

  /** Without fields any object is valid. */
  constructor(fields: readonly DataField[]) {
    this.types = new Map(fields.map(({ key, type }) => [key, type]));
  }

  /** Every fault of `data`, each with its path. Null means "no value" and is always valid. */
  faultsOf(data: Readonly<Record<string, unknown>>): FieldFault[] {
    const faults: FieldFault[] = [];
    for (const [key, value] of Object.entries(data)) {
      const path = `data.${key}`;
      const type = this.types.size === 0 ? 'json' : this.types.get(key);
      const message =
        type === undefined
          ? 'is not a field of this category'
          : value === null
            ? undefined
            : CHECKS[type](value);
      if (message !== undefined) faults.push({ field: path, message });
      else if (type === 'json') addNumberFaults(value, path, faults);
    }
    return faults;
  }
}
