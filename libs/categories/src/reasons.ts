import type { FieldFault } from '@app/kernel';

/** Why a category is stored without a consent, in words for its users (GDPR Art. 13(1)(c), (d)). */
export interface Reasons {
  readonly reason_de: string;
  readonly reason_en: string;
}

type Given = { readonly [Name in keyof Reasons]?: string | null } & {
  readonly requires_consent?: boolean | null;
};

const NAMES = ['reason_de', 'reason_en'] as const;
const IN = { reason_de: 'German', reason_en: 'English' };

/**
 * The reasons after `given` is applied to `before`; null for a category that needs a consent. What `given` does not mention stays.
 * Faults are a missing reason, one without `requires_consent: false`, and the legal basis `consent` with it.
 */
export function reasonsAfter(
  given: Given,
  legalBasis: string,
  before: Reasons | null = null,
): { readonly reasons: Reasons | null; readonly faults: readonly FieldFault[] } {
  const faults: FieldFault[] = [];
  const fault = (field: string, message: string) => faults.push({ field, message });
  const requires = given.requires_consent ?? before === null;
  const [reason_de = '', reason_en = ''] = NAMES.map((name) => {
    const reason = given[name] === undefined ? before?.[name] : given[name];
    if (requires && given[name] != null)
      fault(name, 'is for requires_consent: false only: send both, or leave it out');
    if (!requires && (reason ?? '').trim() === '')
      fault(name, `must say in ${IN[name]} why no consent is needed, with requires_consent: false`);
    return reason ?? '';
  });
  if (!requires && legalBasis === 'consent')
    fault(
      'legal_basis',
      'must not be consent with requires_consent: false: name the other basis, or leave requires_consent out',
    );
  return { reasons: requires ? null : { reason_de, reason_en }, faults };
}
