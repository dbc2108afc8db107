import { conflict, type FieldFault, invalidRequest } from '@app/kernel';
import type { DataFieldInput } from './categories.dto';
import type { DataField } from './category.entity';
import { changedPurposes } from './purposes';

/** @throws ApiError 400 that names every field with the key of an earlier one. */
export function requireDistinctKeys(fields: readonly DataFieldInput[]): void {
  const seen = new Set<string>();
  const faults: FieldFault[] = [];
  fields.forEach(({ key }, index) => {
    if (seen.has(key))
      faults.push({ field: `fields[${index}].key`, message: 'must differ from the keys before it' });
    seen.add(key);
  });
  if (faults.length > 0) throw invalidRequest(faults);
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
  const { key, type, label_de, label_en, labels, description } = given;
  return {
    key,
    type,
    label_de,
    label_en,
    ...(labels != null && { labels }),
    description: description ?? null,
    ...changedPurposes(given),
  };
}

/** A client of an older version does not know all that a field has, so what `given` does not mention stays. */
export function changedField(declared: readonly DataField[], given: DataFieldInput): DataField {
  const mentioned = Object.entries(given).filter(([, value]) => value !== undefined);
  const before = declared.find(({ key }) => key === given.key);
  return dataField({ ...before, ...(Object.fromEntries(mentioned) as unknown as DataFieldInput) });
}
