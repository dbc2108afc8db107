import type { Schemas } from '@lethe/sdk';
import { useWords } from '../language';
import { Field } from './settings-form';

/** Whether a category needs a consent, and why not. */
interface ConsentDraft {
  readonly requires_consent: boolean;
  readonly reason_de: string;
  readonly reason_en: string;
}

type Reason = 'reason_de' | 'reason_en';

export function consentDraftOf(category: Schemas['CategoryView'] | undefined): ConsentDraft {
  const { requires_consent: requires = true, reason_de = '', reason_en = '' } = category ?? {};
  return { requires_consent: requires, reason_de, reason_en };
}

/** What the interface takes of a draft: reasons only where no consent is needed. */
export function consentGiven<Draft extends Partial<ConsentDraft>>(draft: Draft, isRequired: boolean): Draft {
  return isRequired ? { ...draft, reason_de: undefined, reason_en: undefined } : draft;
}

/** For a category with another legal basis than consent. */
export function ConsentFields({
  of,
  faults,
  onChange,
}: {
  readonly of: ConsentDraft;
  readonly faults: ReadonlyMap<string, string>;
  readonly onChange: (changed: Partial<ConsentDraft>) => void;
}) {
  const { t } = useWords();
  const reason = (name: Reason) => ({
    value: of[name],
    fault: faults.get(name),
    onInput: (value: string) => onChange({ [name]: value }),
  });
  return (
    <>
      <label class="check">
        <input
          type="checkbox"
          checked={!of.requires_consent}
          onChange={(event) => onChange({ requires_consent: !event.currentTarget.checked })}
        />{' '}
        {t('withoutConsentField')}
      </label>
      {of.requires_consent && <p class="small">{t('stillConsentNote')}</p>}
      {!of.requires_consent && (
        <div class="pair">
          <Field label={t('reasonDe')} hint={t('reasonHint')} lang="de" rows={3} {...reason('reason_de')} />
          <Field label={t('reasonEn')} lang="en" rows={3} {...reason('reason_en')} />
        </div>
      )}
    </>
  );
}
