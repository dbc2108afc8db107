import type { Schemas } from '@lethe/sdk';
import { useWords } from '../language';
import { Copy } from '../parts';
import { Code, Table } from '../ui';

/** How long the values of a category are kept. A withdrawal ends those of consent alone. */
export function Kept({ of }: { readonly of: Schemas['CategoryView'] }) {
  const { t, ofDays } = useWords();
  if (of.retention_days !== null) return <>{ofDays(of.retention_days)}</>;
  return <>{t(of.legal_basis === 'consent' ? 'unlimited' : 'untilErasure')}</>;
}

/** Whether a category has another legal basis than consent, and its values need a consent nevertheless. */
function stillNeedsConsent({
  legal_basis: basis,
  requires_consent: requires,
}: Pick<Schemas['CategoryView'], 'legal_basis' | 'requires_consent'>): boolean {
  return basis !== 'consent' && requires !== false;
}

/** The legal basis of a category, and whether its values need a consent where the basis does not say it. */
export function Basis({
  of,
  isLong = false,
}: {
  readonly of: Schemas['CategoryView'];
  readonly isLong?: boolean;
}) {
  const { t } = useWords();
  return (
    <>
      <Code kind="basis" of={of.legal_basis} />
      {of.requires_consent === false && !isLong && <div class="small">{t('ofNoConsent')}</div>}
      {stillNeedsConsent(of) && <div class="small">{t(isLong ? 'stillConsentNote' : 'stillConsent')}</div>}
    </>
  );
}

/** A category to read, for a key that may not change it. */
export function CategoryFacts({ of }: { readonly of: Schemas['CategoryView'] }) {
  const { t } = useWords();
  const texts = [
    ['labelDe', 'de', of.label_de],
    ['labelEn', 'en', of.label_en],
    ['purposeDe', 'de', of.description_de],
    ['purposeEn', 'en', of.description_en],
  ] as const;
  const { fields } = of;
  return (
    <>
      <dl class="facts texts">
        <dt>{t('categoryKey')}</dt>
        <dd>
          <code>{of.key}</code> <Copy of={of.key} />
        </dd>
        {texts.map(([name, lang, text]) => (
          <>
            <dt>{t(name)}</dt>
            <dd>{text ? <bdi lang={lang}>{text}</bdi> : '–'}</dd>
          </>
        ))}
        <dt>{t('legalBasis')}</dt>
        <dd>
          <Basis of={of} isLong />
        </dd>
        {of.requires_consent === false && (
          <>
            <dt>{t('withoutConsent')}</dt>
            <dd>
              <bdi lang="de">{of.reason_de}</bdi> / <bdi lang="en">{of.reason_en}</bdi>
            </dd>
          </>
        )}
        <dt>{t('retention')}</dt>
        <dd>
          <Kept of={of} />
        </dd>
      </dl>
      <h2>{t('fieldsTitle')}</h2>
      {fields.length === 0 ? (
        <p class="small">{t('fieldsAny')}</p>
      ) : (
        <Table
          caption={t('fieldsTitle')}
          of={{ items: fields, page: 1, total_pages: 1, total_count: fields.length }}
          columns={[
            { title: t('fieldKey'), cell: ({ key }) => <code>{key}</code> },
            { title: t('fieldType'), cell: ({ type }) => <span title={type}>{t(`type_${type}`)}</span> },
            { title: t('fieldDe'), cell: ({ label_de: label }) => <bdi lang="de">{label}</bdi> },
            { title: t('fieldEn'), cell: ({ label_en: label }) => <bdi lang="en">{label}</bdi> },
            { title: t('fieldEditable'), cell: ({ editable }) => (editable === true ? '✓' : '–') },
          ]}
        />
      )}
    </>
  );
}
