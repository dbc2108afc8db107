import { type FieldFault, invalidRequest } from '@app/kernel';
import type { ChangeCategory, DataFieldInput, Purpose, RegisterCategory } from './categories.dto';
import { faultsOfFields } from './category-declarations';
import type { Category } from './category.entity';
import { changedPurposes } from './purposes';
import { reasonsAfter } from './reasons';

/** What a category declares besides its labels and fields. */
export type Options = Pick<
  Category,
  'labels' | 'description' | 'purposes' | 'retentionDays' | 'legalBasis' | 'withoutConsent'
>;

/** A category to declare; one without fields takes any object. */
export type CategoryInput = Omit<RegisterCategory, 'fields'> & {
  readonly fields: readonly DataFieldInput[];
  /** Where a list has the category; faults name it. */
  readonly path?: string;
};

/** A category to declare, with its options. */
export interface Declared {
  readonly input: CategoryInput;
  readonly options: Options;
}

/** @throws ApiError 400 that names every fault, as {@link faultsOfFields} and {@link reasonsAfter} find them */
export function declared(inputs: readonly CategoryInput[]): Declared[] {
  return sound((faults) =>
    inputs.map((input) => {
      faults.push(...faultsOfFields(input.fields));
      return { input, options: optionsAfter(input, faults, input.path) };
    }),
  );
}

/** The options of a category after `given` is applied to it. @throws ApiError as {@link declared} */
export function changedOptions(given: ChangeCategory, before: Category): Options {
  return sound((faults) => {
    faults.push(...faultsOfFields(given.fields ?? []));
    return optionsAfter(given, faults, '', before);
  });
}

function sound<T>(read: (faults: FieldFault[]) => T): T {
  const faults: FieldFault[] = [];
  const made = read(faults);
  if (faults.length > 0) throw invalidRequest(faults);
  return made;
}

/** What `given` does not mention stays, null clears. */
function optionsAfter(given: Purpose, faults: FieldFault[], path = '', before?: Category): Options {
  const legalBasis = given.legal_basis ?? before?.legalBasis ?? 'consent';
  const { reasons, faults: ofReasons } = reasonsAfter(given, legalBasis, before?.withoutConsent);
  faults.push(...ofReasons.map(({ field, message }) => ({ field: path + field, message })));
  return {
    labels: given.labels === undefined ? (before?.labels ?? null) : given.labels,
    description: given.description === undefined ? (before?.description ?? null) : given.description,
    purposes: changedPurposes(given, before?.purposes),
    retentionDays:
      given.retention_days === undefined ? (before?.retentionDays ?? null) : given.retention_days,
    legalBasis,
    withoutConsent: reasons,
  };
}
