import { useWords } from '../language';
import {
  countryName,
  type DraftRecipient,
  NO_RECIPIENT,
  RECIPIENT_TEXTS,
  type RecipientText,
} from './notice-draft';
import { type Faults, Field } from './settings-form';

const RECIPIENTS_MAX = 20;

/** Who receives data, each with its country, what it does, and what protects a transfer. */
export function Recipients({
  of,
  faults,
  onChange,
}: {
  readonly of: readonly DraftRecipient[];
  readonly faults: Faults;
  readonly onChange: (recipients: readonly DraftRecipient[]) => void;
}) {
  const { t, language } = useWords();
  return (
    <>
      {of.length === 0 && <p class="empty">{t('noticeNoRecipients')}</p>}
      {of.map((recipient, at) => {
        const field = (name: RecipientText) => ({
          label: t(RECIPIENT_TEXTS[name]),
          fault: faults.get(`recipients[${at}].${name}`),
          value: recipient[name],
          onInput: (value: string) =>
            onChange(of.map((each, place) => (place === at ? { ...each, [name]: value } : each))),
        });
        const { onInput, ...country } = field('country');
        return (
          <fieldset key={at} class="recipient">
            <legend>{t('noticeRecipient', { number: at + 1 })}</legend>
            <div class="pair">
              <Field {...field('name')} />
              <Field
                {...country}
                maxLength={2}
                hint={countryName(language, recipient.country) ?? t('noticeCountryHint')}
                onInput={(code) => onInput(code.toUpperCase())}
              />
              <Field lang="de" {...field('purpose_de')} />
              <Field lang="en" {...field('purpose_en')} />
              <Field lang="de" hint={t('noticeSafeguardsHint')} {...field('safeguards_de')} />
              <Field lang="en" {...field('safeguards_en')} />
            </div>
            <button type="button" onClick={() => onChange(of.filter((_, place) => place !== at))}>
              {t('noticeRemoveRecipient', { number: at + 1 })}
            </button>
          </fieldset>
        );
      })}
      <p class="fault">{faults.get('recipients')}</p>
      <button
        type="button"
        disabled={of.length >= RECIPIENTS_MAX}
        onClick={() => onChange([...of, NO_RECIPIENT])}
      >
        {t('noticeAddRecipient')}
      </button>
    </>
  );
}
