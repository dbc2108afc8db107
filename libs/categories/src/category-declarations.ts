import { isDeepStrictEqual } from 'node:util';
import { finding, type Tx } from '@app/database';
import { addNumberFaults, numberFault } from '@app/http';
import { conflict, type FieldFault, isDayOrTime } from '@app/kernel';
import { Injectable } from '@nestjs/common';
import type { DataFieldInput } from './categories.dto';
import type { Category, DataField, FieldType } from './category.entity';
import type { WithoutConsent } from './category-basis';
import { changedPurposes } from './purposes';

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
  private readonly editable: ReadonlySet<string>;

  /** Without fields any object is valid. */
  constructor(
    fields: readonly DataField[],
    readonly requiresConsent = true,
  ) {
    this.types = new Map(fields.map(({ key, type }) => [key, type]));
    this.editable = new Set(fields.filter((field) => field.editable).map(({ key }) => key));
  }

  /** Whether a user may correct the value of a field. */
  isEditable(key: string): boolean {
    return this.editable.has(key);
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

const FIND = finding<WithoutConsent & { readonly fields: string }>(
  'categories',
  ['bot_id', 'key'],
  ['fields', 'without_consent'],
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
    return found.map((row) => row && this.of(row.fields, row.without_consent === null));
  }

  private of(fields: string, requiresConsent: boolean): DeclaredValues {
    // All that DeclaredValues is made of. `fields` begins with a bracket, so the two kinds never meet.
    const madeOf = requiresConsent ? fields : `without_consent${fields}`;
    const known = this.compiled.get(madeOf);
    if (known !== undefined) return known;
    this.compiledLength += fields.length;
    if (this.compiledLength > COMPILED_MAX_LENGTH) {
      this.compiled.clear();
      this.compiledLength = fields.length;
    }
    const declared = new DeclaredValues(JSON.parse(fields) as DataField[], requiresConsent);
    this.compiled.set(madeOf, declared);
    return declared;
  }
}

/** The fault of every field with the key of an earlier one, and of every `editable` one that users cannot write. */
export function faultsOfFields(fields: readonly DataFieldInput[]): FieldFault[] {
  const seen = new Set<string>();
  const faults: FieldFault[] = [];
  fields.forEach(({ key, type, editable }, index) => {
    if (seen.has(key))
      faults.push({ field: `fields[${index}].key`, message: 'must differ from the keys before it' });
    seen.add(key);
    if (editable === true && type === 'json')
      faults.push({
        field: `fields[${index}].editable`,
        message: 'must be false for json, which users cannot write',
      });
  });
  return faults;
}

/** @throws ApiError 409 `category_in_use` when a declared field is missing or has another type. */
export function requireCompatible(declared: readonly DataField[], next: readonly DataFieldInput[]): void {
  const types = new Map(next.map(({ key, type }) => [key, type]));
  if (
    declared.every(({ key, type }) => types.get(key) === type) &&
    (declared.length > 0 || next.length === 0)
  )
    return;
  throw conflict(
    'category_in_use',
    'Declared fields cannot be removed or get another type: register a new category instead',
  );
}

/** A field as it is stored and answered. */
export function dataField(given: DataFieldInput): DataField {
  const { key, type, label_de, label_en, labels, description, editable } = given;
  return {
    key,
    type,
    label_de,
    label_en,
    ...(labels != null && { labels }),
    description: description ?? null,
    ...changedPurposes(given),
    ...(editable === true && { editable }),
  };
}

/** What fields say about what is stored: whether a user may correct it is no part of that. */
export function fieldsSaid(fields: readonly DataField[]): object[] {
  return fields.map((field) => ({ ...field, editable: undefined }));
}

/** Whether users are shown the same of both. */
export function saysTheSame(one: Category, other: Category): boolean {
  const [said, saidToo] = [one, other].map((category) => ({
    ...category,
    fields: fieldsSaid(category.fields),
  }));
  return isDeepStrictEqual(said, saidToo);
}

/** A client of an older version does not know all that a field has, so what `given` does not mention stays. */
export function changedField(declared: readonly DataField[], given: DataFieldInput): DataField {
  const mentioned = Object.entries(given).filter(([, value]) => value !== undefined);
  const before = declared.find(({ key }) => key === given.key);
  return dataField({ ...before, ...(Object.fromEntries(mentioned) as unknown as DataFieldInput) });
}
