import { Injectable } from '@nestjs/common';
import { finding, type Tx } from '@app/database';
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

/** Limit of compiled declarations in memory, in characters of their texts. */
const COMPILED_MAX_LENGTH = 8 * 1024 * 1024;

const FIND = finding<{ readonly fields: string }>(
  'categories',
  ['bot_id', 'key'],
  ['fields'],
  'FOR KEY SHARE',
);

/** Compiled declarations of categories. Each is compiled once and read in the unit that stores. */
@Injectable()
export class CategoryDeclarations {
  private readonly compiled = new Map<string, DeclaredValues>();
  private compiledLength = 0;

  /**
   * Declarations, locked until the unit ends; undefined for an unknown category, and, unless `isAlone`, for one that another
   * unit has locked.
   */
  async find(
    tx: Tx,
    wanted: readonly { readonly botId: string; readonly key: string }[],
    isAlone: boolean,
  ): Promise<readonly (DeclaredValues | undefined)[]> {
    const found = await FIND(
      tx,
      wanted.map(({ botId, key }) => [botId, key]),
      isAlone,
    );
    return found.map((row) => row && this.of(row.fields));
  }

  private of(fields: string): DeclaredValues {
    const known = this.compiled.get(fields);
    if (known !== undefined) return known;
    this.compiledLength += fields.length;
    if (this.compiledLength > COMPILED_MAX_LENGTH) {
      this.compiled.clear();
      this.compiledLength = fields.length;
    }
    const declared = new DeclaredValues(JSON.parse(fields) as DataField[]);
    this.compiled.set(fields, declared);
    return declared;
  }
}
